"""`python -m onceproof` is `onceproof`."""

from __future__ import annotations

from onceproof.cli import main

main()
