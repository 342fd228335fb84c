"""Measure what exactly-once costs: the same load in several ways, in turns, on one stage."""
