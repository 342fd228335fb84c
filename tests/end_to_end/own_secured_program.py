"""A user's program: copies a topic in transactions on brokers that require credentials.

It gets a file of librdkafka properties, and one for Java's command-line tools, of which it only
prints the length.
"""

import os
import signal
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer

_, source, _, out, java = sys.argv[1:]
lines = Path(sys.argv[3]).read_text().splitlines()
settings = {"bootstrap.servers": sys.argv[1], **dict(line.split("=", 1) for line in lines)}
print(len(Path(java).read_text()), sorted(settings), flush=True)
stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))

while not stopped:
    consumer = Consumer(
        {
            **settings,
            "group.id": "copies",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "session.timeout.ms": 10_000,
        }
    )
    producer = Producer({**settings, "transactional.id": f"copies-{os.getpid()}"})
    try:
        consumer.subscribe([source])
        producer.init_transactions(60)
        while not stopped:
            messages = [m for m in consumer.consume(100, 0.1) if not m.error()]
            if not messages:
                continue
            producer.begin_transaction()
            for message in messages:
                producer.produce(out, message.value(), message.key(), headers=message.headers())
            positions = consumer.position(consumer.assignment())
            producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), 10)
            producer.commit_transaction(10)
    except KafkaException as error:
        print("failed", error.args[0].name(), flush=True)
        sys.exit(1)  # the supervisor restarts it
    finally:
        consumer.close()
