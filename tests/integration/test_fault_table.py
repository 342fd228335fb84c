"""Every link fault on every role of a broker, observed by a client of that link.

Faults of a whole broker take seconds each: `test_fault_table_brokers.py` has those.
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
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, Talk, serves

pytestmark = pytest.mark.integration

ARGUMENTS = {
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
"""Arguments after the target, strong enough to rule out chance."""
SAMPLE_ROLES = (ROLES["leader"], ROLES["transaction coordinator"], ROLES["controller"])
ALL = bool(os.environ.get("ONCEPROOF_FAULTS"))
QUICK = 0.15
"""Seconds within which none of these faults lets a response through."""


def is_undisturbed(address: str) -> bool:
    """Whether a new client is answered, and disconnected after an invalid request, at once."""
    with contextlib.suppress(OSError), Talk(address) as talk:
        talk.ask()
        began = time.monotonic()
        if talk.answered(QUICK) and time.monotonic() - began < QUICK:
            talk.socket.sendall(
                b"\0\0\0\4\xff\xff\xff\xff"
            )  # an invalid request: the broker disconnects
            return talk.closed(QUICK)
    return False


@pytest.mark.parametrize("name", ARGUMENTS)
def test_link_fault_disturbs_every_role(
    staging: Staged, topic: Callable[..., str], name: str
) -> None:
    stage, entry = staging.stage, by_hand()[name]
    partition = f"{topic(1)}-0"

    def try_role(role: str, audience: str) -> None:
        target_words = cell(entry, role.replace("payments-0", partition))
        assert target_words is not None
        command = " ".join([name, audience, target_words[1], *ARGUMENTS[name]])
        with contextlib.ExitStack() as clients:
            for node in stage.brokers:
                clients.enter_context(Talk(stage.bootstrap(audience, node)))
            with active_fault(context(stage), command) as (fault, proof):
                assert "connections on" in proof
                node = fault.target.partition("→")[2]
                assert not is_undisturbed(stage.bootstrap(audience, node))
                assert serves(stage.bootstrap(AUDITOR, node))
        assert serves(stage.bootstrap(audience, node))

    # Each role has its own audience, so that concurrent faults on one broker use different links.
    roles = [
        role for role in ROLES.values() if role != "postgres" and (ALL or role in SAMPLE_ROLES)
    ]
    for start in range(0, len(roles), len(AUDIENCES)):
        batch = roles[start : start + len(AUDIENCES)]
        with ThreadPoolExecutor(len(AUDIENCES)) as pool:
            for done in [
                pool.submit(try_role, *pair) for pair in zip(batch, AUDIENCES, strict=False)
            ]:
                done.result()
    assert stage.disturbed() == {}
