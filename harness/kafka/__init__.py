"""The harness's own requests to Kafka: metadata, topics, logs."""
