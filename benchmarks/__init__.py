"""Measuring what judging costs: big histories made to measure, and the command timed on them.

Nothing here is needed for judging, and nothing here is in the wheel. What is
measured is the command as a user starts it, in a process of its own.
"""
