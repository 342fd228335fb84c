"""A run that stays up, and whose faults come by hand."""
