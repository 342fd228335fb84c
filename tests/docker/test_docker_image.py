"""The image of onceproof: its commands need nothing else, no rights and no writable image."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docker.engine import do
from tests.docker.images import OLD_BUILDER, build_onceproof
from tests.unit.docs.pages import blocks

ROOT = Path(__file__).parents[2]
PAGE = "docs/how-to/run-in-a-container.md"
TUTORIAL = ROOT / "docs" / "tutorial" / "verify"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def image() -> str:
    return build_onceproof(ROOT)


def run(
    image: str, folder: Path, *words: str, user: int = 1000, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the command without rights, in a read-only container; its user owns the folder."""
    os.chown(folder, user, user)
    done = subprocess.run(
        [
            *("docker", "run", "--rm", "--read-only", "--tmpfs", "/tmp:exec"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none"),
            *(() if user == 1000 else ("--user", f"{user}:{user}")),
            *("--volume", f"{folder}:/work", image, *words),
        ],
        capture_output=True, text=True, timeout=1500,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def verdicts(folder: Path) -> set[str]:
    (report,) = folder.glob("runs/*/report.json")
    return {claim["verdict"] for claim in json.loads(report.read_text())["claims"]}


def test_doctor_finds_everything(image: str, tmp_path: Path) -> None:
    assert "missing" not in run(image, tmp_path, "doctor").stdout


def test_image_can_be_extended_as_the_page_says(image: str, tmp_path: Path) -> None:
    (block,) = [b for b in blocks() if (b.page, b.language) == (PAGE, "dockerfile")]
    (tmp_path / "Dockerfile").write_text(block.text.replace("FROM onceproof", f"FROM {image}"))
    extended = f"{image}-extended"
    do("docker", "build", "--network", "host", "--tag", extended, tmp_path, env=OLD_BUILDER)
    imported = subprocess.run(
        ["docker", "run", "--rm", "--entrypoint", "python3", extended, "-c", "import httpx"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert "No module named 'httpx'" not in imported.stderr


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("program", "verdict", "code", "user"),
    [("enrich.py", "violated", 1, 1000), ("enrich_mended.py", "holds", 0, 4321)],
)
def test_verify_has_the_verdicts_of_the_tutorial(
    image: str, tmp_path: Path, program: str, verdict: str, code: int, user: int
) -> None:
    shutil.copy(TUTORIAL / program, tmp_path)
    command = ("python3", program, "{bootstrap}", "{input}", "enriched")
    run(image, tmp_path, "verify", "--output", "enriched", "--", *command, user=user, code=code)
    assert verdicts(tmp_path) == {verdict}
    assert {path.stat().st_uid for path in tmp_path.glob("runs/*")} == {user}
