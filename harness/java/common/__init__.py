"""Java code for any client, independent of the broker: history, pace and records."""
