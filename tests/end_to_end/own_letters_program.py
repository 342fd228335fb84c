"""A program as a user writes it: orders into one topic, those that are too large into another.

How it treats those is its last word:

    one    they go the same way as the others, in one transaction with the positions
    both   what was under way when the program died is taken for what killed it, and goes to the
           dead letters when it starts again, though it may have been committed
    lost   a producer of its own takes them, in its own good time, and nobody waits for it
"""

import json
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer

LARGE = 9

bootstrap, source, sink, letters, note, mode = sys.argv[1:]
under_way = Path(note)
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "sorter",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 10_000,
        "isolation.level": "read_committed",
    }
)
producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "sorter-1"})
producer.init_transactions()
aside = Producer({"bootstrap.servers": bootstrap, "linger.ms": 4_000})
suspects = json.loads(under_way.read_text()) if mode == "both" and under_way.exists() else []
if suspects:
    producer.begin_transaction()
    for value in suspects:
        producer.produce(letters, value=value)
    producer.commit_transaction()
    under_way.unlink()
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    messages = [m for m in messages if m.value().decode() not in suspects]
    if not messages:
        continue
    if mode == "both":
        under_way.write_text(json.dumps([m.value().decode() for m in messages]))
    producer.begin_transaction()
    for message in messages:
        large = json.loads(message.value())["quantity"] >= LARGE
        chosen = aside if large and mode == "lost" else producer
        chosen.produce(letters if large else sink, key=message.key(), value=message.value())
    try:
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        )
        producer.commit_transaction()
    except KafkaException as error:
        sys.exit(f"a transaction failed, start again from what is committed: {error}")
    if mode == "both":
        under_way.unlink()
