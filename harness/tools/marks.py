"""Files in the prefix of environments that have all packages of the harness.

They have a module of their own, because every command looks for them before it imports anything.
"""

from __future__ import annotations

from typing import Final

MARK: Final = "onceproof-environment"
"""In each part of the harness's own environment, once it is complete."""
STAMP: Final = "onceproof-stamp"
"""In the project's `.venv`: the fingerprint of what it was made from."""
