"""Defaults of options, from `onceproof.toml`, `pyproject.toml` or the environment.

There is no list of settings. They are derived from the options of the commands, and take the same
values; see `onceproof.settings.known`.
"""
