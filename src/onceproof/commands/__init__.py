"""What each command does, one file each; every function returns an exit code.

The command line imports a file only when its command is called, so that
`list`, `check` and `--help` do not wait for what only a run needs.
"""
