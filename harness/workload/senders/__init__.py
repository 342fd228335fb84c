"""Clients that send the workload, with their settings; one file for each."""
