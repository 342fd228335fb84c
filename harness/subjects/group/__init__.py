"""Consumer groups on trial: members that read, transform and write, and where they commit."""
