"""Kafka Connect under test: workers, and one connector with one task."""
