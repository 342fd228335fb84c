"""Everything with a side effect: the stage, the faults, the subjects, the recording of a run."""
