"""Runs without end: what they leave behind, in memory and on disk, is watched."""
