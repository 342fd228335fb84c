"""Consumer groups under test: members that read, transform, write and commit."""
