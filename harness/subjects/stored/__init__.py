"""Consumers under test that store their offsets with their effects, in a database."""
