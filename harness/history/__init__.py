"""What a run leaves behind: its folder, record, tables and events."""
