"""Install the packages of the command before the first test that needs them, and say so."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial

import pytest

from onceproof.entering import is_complete
from onceproof.harness.tools import own_environment


def install(config: pytest.Config) -> None:
    """Create the command's own environment, unless it exists or this one has all packages.

    Raises:
        SetupError: it cannot be created.
    """
    if not is_complete():
        own_environment.ensure(partial(_say, config))


def _say(config: pytest.Config, words: str) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None:  # a worker of xdist
        print(f"onceproof: {words}", file=sys.__stderr__)
        return
    with nullcontext() if capture is None else capture.global_and_fixture_disabled():
        reporter.ensure_newline()
        reporter.write_line(f"onceproof: {words}")
