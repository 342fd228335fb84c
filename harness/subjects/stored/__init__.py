"""Consumers on trial that keep their offsets where their effects are: in a database."""
