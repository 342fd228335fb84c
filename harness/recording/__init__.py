"""Writing history while a run lasts, and turning it into tables."""
