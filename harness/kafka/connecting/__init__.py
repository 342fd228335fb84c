"""How our own clients connect to brokers: one place, whatever the client."""
