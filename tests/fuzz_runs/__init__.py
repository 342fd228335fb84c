"""Fuzzing of `onceproof check` with damaged run folders.

`python -m tests.fuzz_runs` (or `make fuzz-runs`) checks 2,000 variants in one process; the unit
tests check a sample. Allowed are the right verdict, a refusal in one sentence, `invalid` and
`unknown`. Not allowed are a hang, a traceback, and `holds` for a run that lacks rows.
"""
