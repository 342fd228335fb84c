"""Which versions of what were tried with which scenario, and what came of it: `make versions`."""
