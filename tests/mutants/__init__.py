"""Mutation tests of the checkers' queries.

`python -m tests.mutants` applies every operator to every query, one change at a time, and checks
whether any answer on any history of the corpus differs. A surviving mutant is either a gap in the
tests, or it is listed in `equivalent/` with the reason why it is equivalent.
"""
