"""What the harness says to Kafka by itself: metadata, topics, logs."""
