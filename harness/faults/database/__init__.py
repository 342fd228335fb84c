"""Faults of a transaction in a database."""
