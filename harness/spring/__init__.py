"""Programs with Spring for Apache Kafka."""
