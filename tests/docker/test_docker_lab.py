"""A lab in containers: faults injected by hand, their evidence and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.lab_client import ask
from tests.docker.staging import resources_of_run
from tests.end_to_end.command import onceproof
from tests.end_to_end.test_lab import GUARDED, Up, up

FAULTS = (
    ("kill", ["leader:{topic}-0"], "ended by signal 9; leadership moved"),
    ("pause", ["leader:{topic}-2"], "the engine reports it as paused; the majority removed"),
    ("stop", ["leader:{topic}-1"], "ended with status 143; the majority removed"),
    ("isolate", ["leader:{topic}-1"], "from every in-sync set"),
    ("lose-responses", ["leader:{topic}-2"], "requests of the producers to broker-"),
    ("cut", ["pipeline", "leader:{topic}-0"], "closed, new ones refused"),
    ("kill", ["driver", "--at", "after-sink-write"], "the batch had no commit"),
)
"""(Fault, its arguments, expected evidence)."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Up]:
    with up("docker", tmp_path, of=(*GUARDED, "--backend", "docker")) as lab:
        yield lab


@pytest.mark.slow
def test_faults_by_hand_take_effect_and_heal(lab: Up) -> None:
    lab_option = ("--lab", lab.name)
    topic = ask(lab.place, "GET", "/")["topic"]
    injected: Counter[str] = Counter()
    for fault, arguments, evidence in FAULTS:
        done = onceproof("fault", fault, *(a.format(topic=topic) for a in arguments), *lab_option)
        assert done.code == 0, done.out + done.err
        name = f"{fault}-{1 + injected[fault]}"
        injected[fault] += 1
        lab.wait_until_took_effect(name)
        assert evidence in lab.fault(name)["detail"]
        done = onceproof("heal", name, *lab_option)
        assert done.code == 0, done.out + done.err
    assert onceproof("end", *lab_option).code == 0
    done = lab.process.finish()
    assert done.code == 0, done.err
    assert set(done.verdicts().values()) == {"holds"}, done.out
    assert resources_of_run(lab.process.popen.pid) == []
