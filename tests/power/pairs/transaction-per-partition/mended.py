"""Copies orders in transactions, one for each partition."""

import faulthandler
import sys

from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import OffsetAndMetadata

bootstrap, source, sink = sys.argv[1:]
consumer = KafkaConsumer(
    source,
    bootstrap_servers=bootstrap.split(","),
    group_id="copy",
    auto_offset_reset="earliest",
    enable_auto_commit=False,
    isolation_level="read_committed",
    session_timeout_ms=8000,
    max_poll_records=200,
)
producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), transactional_id="copy-1")
producer.init_transactions()
while True:
    faulthandler.dump_traceback_later(25, exit=True)  # a call that hangs ends this life
    batches = consumer.poll(500)
    group = consumer.group_metadata()
    for place, batch in batches.items():
        producer.begin_transaction()
        for record in batch:
            if record.value is not None:
                producer.send(sink, key=record.key, value=record.value)
        ends = {place: OffsetAndMetadata(batch[-1].offset + 1, "", -1)}
        producer.send_offsets_to_transaction(ends, group)
        producer.commit_transaction()
