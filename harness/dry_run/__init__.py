"""A run without faults that learns how a pipeline works."""
