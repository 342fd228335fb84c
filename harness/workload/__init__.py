"""The workload: its records, its producers, and their pace."""
