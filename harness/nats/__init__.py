"""NATS JetStream as the queue broker of a run: its server, streams, and what is asked of them."""
