"""Run folders that were damaged in every way that comes to mind, and what `check` makes of them.

`python -m tests.fuzz_runs` (or `make fuzz-runs`) tries 2,000 variants in one process; a sample of
them is part of the unit tests. Allowed is the right verdict, a refusal in a sentence, `invalid` and
`unknown`; nothing may hold that lacks something, nothing may hang, and no traceback may show.
"""
