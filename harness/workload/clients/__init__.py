"""Producer programs, one for each client library. Each runs as its own process."""
