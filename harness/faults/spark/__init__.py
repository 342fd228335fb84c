"""Faults of a Spark query's checkpoint, and what those of its driver share."""
