"""`onceproof verify`: anybody's own pipeline on trial."""
