"""The phases of a run, from arrange to judge."""
