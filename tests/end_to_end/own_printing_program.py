"""Prints the records of a topic, one per line, and exits."""

import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

bootstrap, topic = sys.argv[1:]
consumer = Consumer(
    {"bootstrap.servers": bootstrap, "group.id": "printing", "enable.partition.eof": True}
)
partitions = consumer.list_topics(topic, 30).topics[topic].partitions
consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
unfinished = set(partitions)
while unfinished:
    for message in consumer.consume(500, timeout=1.0):
        if (error := message.error()) is None:
            print(message.value().decode())
        elif error.name() == "_PARTITION_EOF":
            unfinished.discard(message.partition())
        else:
            sys.exit(f"{topic}: {error}")
