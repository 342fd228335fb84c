"""What `kill`, `stop` and `pause` act on: a file for each kind, and whatever it needs beside it."""
