"""`--with`: a run in chosen versions says which ran, repeats itself with them, and compares.

The commands of docs/how-to/test-another-version.md.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]
SCENARIO = "idempotent-librdkafka-quiet"
BROKEN = ("late-commit-java-2", "kafka-clients=3.9.2")
"""A scenario, and a version that does not keep its word."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The run folders of two versions of one client."""
    out = tmp_path_factory.mktemp("versions")
    found = {}
    for version in ("1.9.2", "2.3.0"):
        done = onceproof(
            *("run", SCENARIO, "--seed", "7", "--with", f"librdkafka={version}"),
            *("--out", str(out)),
        )
        assert done.code == 0, done.err
        report = re.search(r"^report +(\S+)/report\.html$", done.out, re.MULTILINE)
        assert report is not None
        found[version] = Path(report[1])
    return found


@LATER
def test_run_names_what_ran_and_repeats_with_it(folders: dict[str, Path]) -> None:
    record = json.loads((folders["1.9.2"] / "run.json").read_text())
    assert record["versions"]["librdkafka"] == "1.9.2"
    assert record["configuration"]["runtimes"] == {"librdkafka": "1.9.2"}
    assert shlex.split(record["repeat"])[-2:] == ["--with", "librdkafka=1.9.2"]
    assert "retry.backoff.max.ms" not in record["configuration"]["producers"]
    page = (folders["1.9.2"] / "report.html").read_text()
    assert "1.9.2" in page


@LATER
def test_finding_of_an_old_version_is_gone_in_the_usual_one(tmp_path: Path) -> None:
    scenario, version = BROKEN
    old = onceproof("run", scenario, "--seed", "7", "--with", version, "--out", tmp_path / "old")
    assert old.code == 1, old.err
    new = onceproof("run", scenario, "--seed", "7", "--out", tmp_path / "new")
    assert new.code == 0, new.err
    done = onceproof("diff", *(str(next((tmp_path / n).glob("*-7"))) for n in ("old", "new")))
    assert "precommitted-read in payments: gone" in done.out
    assert re.search(r"kafka-clients +3\.9\.2 +4", done.out)


@LATER
def test_two_versions_are_compared(folders: dict[str, Path]) -> None:
    done = onceproof("diff", str(folders["1.9.2"]), str(folders["2.3.0"]))
    assert re.search(r"librdkafka.*1\.9\.2.*2\.3\.0", done.out), done.out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["run", SCENARIO, "--with", "aiokafka=0.10.0"], "does not use aiokafka, but only kafka"),
        (["run", SCENARIO, "--with", "librdkafka=1.0.0"], "The oldest version is"),
        (["run", SCENARIO, "--with", "librdkafka"], "expected NAME=VERSION"),
        (["run", "late-commit-java-2", "--with", "kafka=3.9.2"], "needs Kafka 4.0"),
        (["run", SCENARIO, "--backend", "docker", "--with", "kafka=3.9.2"], "backend docker"),
        pytest.param(
            ["explore", "java-transactional", "--with", "librdkafka=2.3.0"],
            "does not use librdkafka",
            marks=LATER,
        ),
        pytest.param(
            ["lab", "--bare", "--with", "librdkafka=2.3.0"], "does not use librdkafka", marks=LATER
        ),
        pytest.param(
            ["verify", "--output", "o", "--with", "librdkafka=2.3.0", "--", "true"],
            "does not use librdkafka",
            marks=LATER,
        ),
    ],
)
def test_unsupported_version_is_refused_before_anything_starts(
    arguments: list[str], why: str
) -> None:
    done = onceproof(*arguments)
    assert done.code == 2
    assert why in done.err
    assert "set-up" not in done.err


@LATER
def test_runtimes_in_the_cache_are_listed(folders: dict[str, Path]) -> None:
    done = onceproof("runtimes")
    assert done.code == 0
    (line,) = (line for line in done.out.splitlines() if line.startswith("librdkafka "))
    assert {"1.9.2", "2.3.0"} <= set(line.split())
