"""Copies a topic in transactions on brokers that require credentials, as a user would write it.

It gets a file of properties by librdkafka's names, and one for Java's command-line tools, which it
only prints the length of.
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
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(True))

while not over:
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
        while not over:
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
        sys.exit(1)  # whoever keeps this running starts it again
    finally:
        consumer.close()
