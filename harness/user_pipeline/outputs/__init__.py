"""Where pipelines of yours write to, one file a kind; `kinds.py` finds them."""
