"""A user's program: orders into one topic, those that are too large into a dead-letter topic.

The last argument is its mode:

    one    large orders are sent like the others, in one transaction with the offsets
    both   after a crash, the orders in progress become dead letters, even if they were committed
    lost   a separate producer sends large orders, and nothing waits for it
"""

import json
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer

LARGE = 9

bootstrap, source, sink, letters, note, mode = sys.argv[1:]
in_progress = Path(note)
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
separate_producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 4_000})
suspects = json.loads(in_progress.read_text()) if mode == "both" and in_progress.exists() else []
if suspects:
    producer.begin_transaction()
    for value in suspects:
        producer.produce(letters, value=value)
    producer.commit_transaction()
    in_progress.unlink()
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    messages = [m for m in messages if m.value().decode() not in suspects]
    if not messages:
        continue
    if mode == "both":
        in_progress.write_text(json.dumps([m.value().decode() for m in messages]))
    producer.begin_transaction()
    for message in messages:
        large = json.loads(message.value())["quantity"] >= LARGE
        chosen = separate_producer if large and mode == "lost" else producer
        chosen.produce(letters if large else sink, key=message.key(), value=message.value())
    try:
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        )
        producer.commit_transaction()
    except KafkaException as error:
        sys.exit(f"a transaction failed, start again from what is committed: {error}")
    if mode == "both":
        in_progress.unlink()
