"""A lab: a run that stays up while a user injects faults."""
