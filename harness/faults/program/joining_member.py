"""A consumer group member that reads nothing.

Run as `python -m onceproof.harness.faults.program.joining_member TOPIC…`. It reads its client
settings from standard input as one line of JSON, writes its assignment as one line of JSON whenever
it changes, and leaves the group when standard input ends. It is a separate process because its
client library may crash when partitions are revoked.
"""

from __future__ import annotations

import json
import select
import sys
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from onceproof.harness.kafka.connecting.connection import connection

_POLL: Final = 0.05


def main() -> None:
    """Stay in the group until standard input ends."""
    settings = json.loads(sys.stdin.readline())
    consumer = Consumer({**settings, **connection(settings["bootstrap.servers"]).librdkafka()})
    consumer.subscribe(sys.argv[1:])
    known: list[TopicPartition] = []
    while not select.select([sys.stdin], [], [], 0)[0]:
        consumer.poll(_POLL)
        try:
            assigned = consumer.assignment()
            if fresh := [each for each in assigned if each not in known]:
                consumer.pause(fresh)
        except KafkaException:
            continue  # it was revoked between the two calls
        if assigned != known:
            known = assigned
            sys.stdout.write(json.dumps([[each.topic, each.partition] for each in known]) + "\n")
            sys.stdout.flush()
    consumer.close()


if __name__ == "__main__":
    main()
