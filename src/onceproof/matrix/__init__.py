"""Every scenario on every backend: what is to be run, what is there already, how many at once."""
