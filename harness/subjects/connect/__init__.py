"""Kafka Connect on trial: workers, one connector, and who runs its task."""
