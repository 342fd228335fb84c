"""Copy records in transactions: BOOTSTRAP INPUT OUTPUT GROUP CLIENT_ID [forgets].

With `forgets` it continues after an abort without rewinding.
"""

from __future__ import annotations

import sys

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

bootstrap, source, sink, group, client_id, *forgets = sys.argv[1:]
common = {"bootstrap.servers": bootstrap, "client.id": client_id, "log_level": 0}
consumer = Consumer({
    **common, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest",
    "isolation.level": "read_committed", "session.timeout.ms": 6000,
})  # fmt: skip
producer = Producer({
    **common, "transactional.id": group, "socket.timeout.ms": 3000, "transaction.timeout.ms": 15000
})  # fmt: skip
producer.init_transactions()
consumer.subscribe([source])
while True:
    batch = [message for message in consumer.consume(20, 0.2) if not message.error()]
    if not batch:
        continue
    try:
        producer.begin_transaction()
        for message in batch:
            producer.produce(sink, message.value(), message.key())
        ends = {message.partition(): message.offset() + 1 for message in batch}
        producer.send_offsets_to_transaction(
            [TopicPartition(source, partition, end) for partition, end in ends.items()],
            consumer.consumer_group_metadata(),
        )
        producer.commit_transaction()
    except KafkaException as failure:
        if not failure.args[0].txn_requires_abort():
            raise
        producer.abort_transaction()
        if not forgets:
            for place in consumer.committed(consumer.assignment(), 10):
                place.offset = max(place.offset, 0)
                consumer.seek(place)
