"""Messages of Kafka's protocol that kafka-python lacks, in the form of Kafka's own schemas."""
