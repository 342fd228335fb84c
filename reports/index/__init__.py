"""Many runs on one page: each scenario with what its runs said, and how that went over time."""
