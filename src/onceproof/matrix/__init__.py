"""Every scenario on every backend: plan, reuse of earlier runs, and execution."""
