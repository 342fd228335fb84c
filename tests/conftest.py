"""What holds for every test."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

# No test is timed: the machines that this runs on are busy.
settings.register_profile("onceproof", deadline=None)
settings.load_profile("onceproof")

# Tests that several folders share say what was compared, as tests do.
pytest.register_assert_rewrite("tests.contracts")

# A shell without job control starts what is put in the background with SIGINT ignored, and so do
# some build servers. Processes inherit that, and those that must answer to SIGINT never would.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
