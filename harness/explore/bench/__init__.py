"""Make the trials of an exploration on real brokers."""
