"""Everything with side effects: stage, faults, subjects, and recording of a run."""
