"""Brokers, proxies and databases of one run."""
