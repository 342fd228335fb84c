"""Faults of a Flink job."""
