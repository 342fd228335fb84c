"""Building what is released, and looking whether it is what it should be: `make dist`."""
