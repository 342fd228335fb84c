"""Mutants of the checkers' queries: each condition, join and comparison altered in turn.

`python -m tests.mutants` alters every query in every way that `operators`
knows, one alteration at a time, and looks whether any answer on any history of the corpus comes out
otherwise. A mutant that changes none is either a hole in the tests, or it is listed in
`equivalent/` with the reason why it means the same.
"""
