"""What a run leaves: its folder, its record, its tables, its events."""
