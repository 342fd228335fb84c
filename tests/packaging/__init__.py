"""Builds and checks the distributions: `make dist`."""
