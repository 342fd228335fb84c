"""What phases, faults and subjects use during a run."""
