"""Valkey's streams as the queues of a run: its server, and what is asked of its streams."""
