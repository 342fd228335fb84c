"""Faults of requests to the HTTP service."""
