"""Modules that run with packages which the environment does not have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from onceproof.harness.processes.with_packages import with_packages


@pytest.mark.parametrize("there", [True, False])
def test_module_gets_the_packages_and_its_arguments(tmp_path: Path, there: bool) -> None:
    packages, ours = tmp_path / "packages", tmp_path / "ours"
    for folder in (packages, ours):
        folder.mkdir()
    (packages / "only_there.py").write_text("WORD = 'found'\n")
    (packages / "json.py").write_text("raise SystemExit('it hides a module')\n")
    (ours / "a_module.py").write_text(
        "import json, sys\nfrom only_there import WORD\n"
        "def main() -> None:\n    print(WORD, json.dumps(sys.argv[1:]))\n"
    )
    command = with_packages(packages if there else None, "a_module", "one", Path("two"))
    path = [str(ours), *([] if there else [str(packages)])]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        check=False,
    )
    if there:
        assert done.stdout == 'found ["one", "two"]\n', done.stderr
    else:
        assert "it hides a module" in done.stderr
