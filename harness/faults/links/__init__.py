"""Faults of the links between clients, brokers and databases."""
