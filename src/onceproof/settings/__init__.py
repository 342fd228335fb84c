"""Defaults of options, from `onceproof.toml`, `pyproject.toml` or the environment.

Nobody lists the settings. They are the options of the commands, and what a
setting may be is what its option may be; see `onceproof.settings.known`.
"""
