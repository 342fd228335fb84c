"""Faults of a Spark query's checkpoint, and helpers for faults of its driver."""
