"""What trials are made of: a client of each subject, with topics of its own."""
