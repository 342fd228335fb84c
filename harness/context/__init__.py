"""What phases, faults and subjects get to work with while a run lasts."""
