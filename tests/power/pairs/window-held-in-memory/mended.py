"""Holds orders until their window of ten seconds is over, and copies them then, in transactions."""

import json
import signal
import sys
from datetime import datetime

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

WINDOW = LATENESS = 10.0
bootstrap, source, sink = sys.argv[1:]


class Partition:
    """What is held of one partition, and how far its event time is."""

    def __init__(self, watermark):
        self.watermark = watermark
        self.held = []
        self.next = None

    def add(self, message):
        """Hold a message, unless its window is over: then it is late, or was copied before."""
        self.next = message.offset() + 1
        if message.value() is None:
            return
        at = datetime.fromisoformat(json.loads(message.value())["at"]).timestamp()
        end = at // WINDOW * WINDOW + WINDOW
        if end > self.watermark:
            self.held.append((end, message))
        self.watermark = max(self.watermark, at - LATENESS)

    def take(self):
        """The messages of windows that are over by now."""
        over = [message for end, message in self.held if end <= self.watermark]
        self.held = [(end, message) for end, message in self.held if end > self.watermark]
        return over

    def offset(self):
        """Where the next life begins: what is held has to be read again."""
        return min([self.next, *(message.offset() for _, message in self.held)])


partitions = {}


def assigned(consumer, given):
    """Begin where the offsets are, with the watermark that was committed with them."""
    for each in consumer.committed(given, timeout=30):
        partitions[each.partition] = Partition(float(each.metadata or "-inf"))


def revoked(consumer, given):
    """Forget what another member reads now."""
    for each in given:
        partitions.pop(each.partition, None)


def copy(consumer, producer):
    """Copy for ever."""
    consumer.subscribe([source], on_assign=assigned, on_revoke=revoked, on_lost=revoked)
    while True:
        wait = 0.5
        for _ in range(200):
            message = consumer.poll(wait)
            if message is None:
                break
            if message.error():  # its offsets are not fetched again: start anew
                raise KafkaException(message.error())
            partitions[message.partition()].add(message)
            wait = 0
        read = {number: each for number, each in partitions.items() if each.next is not None}
        if wait or not read:
            continue
        # To send offsets may never return: docs/findings/librdkafka-coordinator-gone.md.
        signal.alarm(40)
        producer.begin_transaction()
        for each in read.values():
            for message in each.take():
                producer.produce(sink, key=message.key(), value=message.value())
        offsets = [
            TopicPartition(source, number, each.offset(), metadata=str(each.watermark))
            for number, each in read.items()
        ]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 30)
        producer.commit_transaction(30)
        signal.alarm(0)


producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "windows"})
producer.init_transactions(60)
try:
    copy(
        Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "windows",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "session.timeout.ms": 8000,
            }
        ),
        producer,
    )
except KafkaException as error:
    print(error, file=sys.stderr, flush=True)
    sys.exit(1)
