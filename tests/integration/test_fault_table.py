"""The table of faults and targets: every fault of a link on every role, as a client there sees it.

Faults that take a whole broker take seconds each: those have a table of their own beside this one.
`make test-faults` tries every role, `make test` a few.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from onceproof.harness.faults.by_hand import by_hand
from onceproof.harness.faults.page import ROLES, cell
from onceproof.harness.links.topology import AUDIENCES, AUDITOR
from tests.integration.faults import at_work, context
from tests.integration.staging import Staged, Talk, serves

pytestmark = pytest.mark.integration

WORDS = {
    "close-slowly": ["1500"],
    "cut": [],
    "cut-after": ["responses", "5"],
    "delay": ["requests", "300", "50"],
    "hold": ["responses"],
    "lose-answers": [],
    "lose-requests": [],
    "reset": [],
    "slice": ["responses", "7", "20000"],
    "throttle": ["responses", "1"],
}
"""What comes after the target, so strong that nobody can take it for chance."""
A_FEW = (ROLES["leader"], ROLES["transaction coordinator"], ROLES["controller"])
ALL = bool(os.environ.get("ONCEPROOF_FAULTS"))
QUICK = 0.15
"""Seconds in which none of these lets an answer pass."""


def meets(way: str) -> bool:
    """Whether a new client there is answered at once, and hears at once when it is hung up on."""
    with contextlib.suppress(OSError), Talk(way) as talk:
        talk.ask()
        began = time.monotonic()
        if talk.answered(QUICK) and time.monotonic() - began < QUICK:
            talk.socket.sendall(b"\0\0\0\4\xff\xff\xff\xff")  # no request: a broker hangs up
            return talk.closed(QUICK)
    return False


@pytest.mark.parametrize("name", WORDS)
def test_a_fault_of_a_link_on_every_role(
    staging: Staged, topic: Callable[..., str], name: str
) -> None:
    stage, entry = staging.stage, by_hand()[name]
    partition = f"{topic(1)}-0"

    def tried(role: str, audience: str) -> None:
        words = cell(entry, role.replace("payments-0", partition))
        assert words is not None
        asking = " ".join([name, audience, words[1], *WORDS[name]])
        with contextlib.ExitStack() as clients:
            for node in stage.brokers:
                clients.enter_context(Talk(stage.bootstrap(audience, node)))
            with at_work(context(stage), asking) as (fault, proof):
                assert "connections on" in proof
                node = fault.target.partition("→")[2]
                assert not meets(stage.bootstrap(audience, node))
                assert serves(stage.bootstrap(AUDITOR, node))
        assert serves(stage.bootstrap(audience, node))

    # Each on an audience's way of its own, so that those that meet on a broker do not meet.
    roles = [role for role in ROLES.values() if role != "postgres" and (ALL or role in A_FEW)]
    for start in range(0, len(roles), len(AUDIENCES)):
        batch = roles[start : start + len(AUDIENCES)]
        with ThreadPoolExecutor(len(AUDIENCES)) as pool:
            for done in [pool.submit(tried, *pair) for pair in zip(batch, AUDIENCES, strict=False)]:
                done.result()
    assert stage.disturbed() == {}
