"""Faults of the cluster: its brokers, logs and committed offsets."""
