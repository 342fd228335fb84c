"""`onceproof verify --image`: a pipeline whose image holds a single Go program."""

from __future__ import annotations

import os
import signal
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.harness.tools import go
from onceproof.harness.wait import wait_until
from tests.docker.staging import resources_of_run
from tests.end_to_end.command import Started, onceproof

PAIRS = Path(__file__).parents[1] / "power" / "pairs"
ARGUMENTS = ("{bootstrap}", "{input}", "copied")


@pytest.fixture
def image(tmp_path: Path) -> Callable[[str], str]:
    """Build the image of a program in `tests/power`."""

    def build(program: str) -> str:
        found = go.in_path()
        assert found is not None
        binary, archive = tmp_path / "pipeline", tmp_path / "image.tar"
        subprocess.run(
            [found.program, "build", "-o", binary, program], cwd=PAIRS, check=True,
            env={**os.environ, "CGO_ENABLED": "0"},
        )  # fmt: skip
        with tarfile.open(archive, "w") as tar:
            tar.add(binary, "pipeline")
        name = f"onceproof-test/{program.replace('/', '-').removesuffix('.go')}"
        entry = '--change=ENTRYPOINT ["/pipeline"]'
        subprocess.run(["docker", "import", entry, archive, name], check=True)
        return name

    return build


def verify(image: str, runs: Path, *more: str) -> list[str]:
    return [
        *("verify", "--image", image, "--output", "copied", "--claim", "at-least-once"),
        *("--seed", "3", "--preset", "gentle", "--out", str(runs), *more, "--", *ARGUMENTS),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "verdict"), [("broken", "violated"), ("mended", "holds")])
def test_verify_judges_pipeline_image(
    image: Callable[[str], str], tmp_path: Path, variant: str, verdict: str
) -> None:
    name = image(f"go-marked-before-written/{variant}.go")
    done = onceproof(*verify(name, tmp_path / "runs"), timeout=1700)
    assert set(done.verdicts().values()) == {verdict}, done.out + done.err
    assert "killed by the Docker engine, with 1 containers" in done.err
    assert "was paused for" in done.err


def test_killed_harness_leaves_no_container(image: Callable[[str], str], tmp_path: Path) -> None:
    name = image("go-marked-before-written/mended.go")
    run = Started(*verify(name, tmp_path / "runs", "--dry-run"), log=tmp_path / "log")
    pid = run.popen.pid
    log = tmp_path / "log"
    wait_until(lambda: resources_of_run(pid), what="a container", seconds=120, seen=log.read_text)
    os.kill(pid, signal.SIGKILL)
    run.popen.wait()
    wait_until(
        lambda: not resources_of_run(pid),
        what="no container",
        seconds=30,
        seen=lambda: resources_of_run(pid),
    )


def test_verify_rejects_missing_image(tmp_path: Path) -> None:
    done = onceproof(*verify("onceproof-test/none", tmp_path / "runs"))
    assert done.code == 2
    assert "the Docker engine has no such image; build it, or pull it with" in done.err
