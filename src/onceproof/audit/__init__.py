"""`onceproof audit`: what happened on a real cluster. It only reads."""
