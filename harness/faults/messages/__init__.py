"""Faults of single messages of Kafka's protocol."""
