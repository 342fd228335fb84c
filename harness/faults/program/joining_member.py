"""A member of a consumer group that reads nothing.

Run as `python -m onceproof.harness.faults.program.joining_member TOPIC…`.

Settings of its client come as one line of JSON on standard input; what it is assigned goes out as
one line of JSON each time that changes. It leaves the group when its standard input ends. It is a
process of its own, because its client library may crash when partitions are taken away.
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
    """Stay in the group until nobody asks any more."""
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
            continue  # it was taken away between the two calls
        if assigned != known:
            known = assigned
            sys.stdout.write(json.dumps([[each.topic, each.partition] for each in known]) + "\n")
            sys.stdout.flush()
    consumer.close()


if __name__ == "__main__":
    main()
