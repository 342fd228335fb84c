"""What a run tries: scenarios, their schedules of faults, and carrying these out."""
