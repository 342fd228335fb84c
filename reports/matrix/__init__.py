"""Every scenario on every backend, on one page: subjects down, kinds of faults across."""
