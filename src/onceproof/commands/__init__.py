"""What each command does; a file is imported when its command runs, and returns an exit code."""
