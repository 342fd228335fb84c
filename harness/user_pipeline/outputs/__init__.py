"""Where pipelines of somebody's own write to, one file a kind; `output.py` says which there are."""
