"""Report what a run did and what the checkers found, in a terminal, as a page and as JSON.

`build` makes one `Report` (`model`) from the run record, the history and the judgement. All output
is rendered from it, so a page can be rendered again from `report.json`.
"""
