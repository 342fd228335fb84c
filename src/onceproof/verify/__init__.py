"""`onceproof verify`: test a user's own pipeline."""
