"""Audit the topics and outputs of a live cluster, read-only and without injecting faults."""
