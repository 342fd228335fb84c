"""The wheel in an empty environment: few packages, the command, and the pytest plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.harness.tools import cache, own_environment
from onceproof.harness.tools.marks import MARK
from tests.end_to_end.catalogue import LATER
from tests.packaging.building import build

pytestmark = pytest.mark.integration
MOST_PACKAGES, MOST_MEGABYTES = 15, 40
A_TEST = """
def test_fault_takes_effect(onceproof_cluster):
    topic = onceproof_cluster.topic("orders")
    with onceproof_cluster.fault("kill", f"leader:{topic}-0") as fault:
        fault.wait_until_took_effect()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel, what it needs, and pytest."""
    folder = tmp_path_factory.mktemp("light")
    wheel = build(folder / "dist").wheel
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, timeout=120)
    pip = [folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--quiet", wheel], check=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A cache that has the packages of this environment as those of the harness's own."""
    new = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        known = cache.location()
        patch.setenv(cache.VARIABLE, str(new))
        packages = own_environment.places().packages
    packages.mkdir(parents=True)
    for part in ("bin", "lib"):
        (packages / part).symlink_to(Path(sys.prefix, part), target_is_directory=True)
    (packages / MARK).touch()
    for tool in known.iterdir():
        if tool.name != own_environment.FOLDER:
            (new / tool.name).symlink_to(tool)
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, cache.VARIABLE: str(new)}


def run(project: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / "venv/bin/python", "-m", *words],
        capture_output=True, text=True, cwd=project, env=environ, timeout=300, check=False,
    )  # fmt: skip


def test_installation_is_small(project: Path, environ: dict[str, str]) -> None:
    (site,) = project.glob("venv/lib/*/site-packages")
    before = {"pip", "setuptools"}
    names = {path.name.split("-")[0].lower() for path in site.glob("*.dist-info")} - before
    assert "onceproof" in names
    assert len(names) <= MOST_PACKAGES
    ours = (
        path for path in site.iterdir() if not path.name.startswith((*before, "_distutils", "pkg_"))
    )
    sizes = [f.stat().st_size for each in ours for f in [each, *each.rglob("*")] if f.is_file()]
    assert 5 < sum(sizes) / 1e6 < MOST_MEGABYTES
    for words, said in ((["--help"], "Tests exactly-once claims"), (["--version"], "onceproof 0.")):
        done = run(project, {**environ, cache.VARIABLE: str(project / "none")}, "onceproof", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
    assert not (project / "none").exists()


def test_command_runs_in_its_own_environment(project: Path, environ: dict[str, str]) -> None:
    done = run(project, environ, "onceproof", "explain", "lost-write")
    assert done.returncode == 0, done.stderr
    assert "lost-write" in done.stdout
    assert done.stderr == ""
    (own,) = Path(environ[cache.VARIABLE], own_environment.FOLDER).glob("onceproof-*")
    probe = "import onceproof, pyspark, sys; print(onceproof.__file__)"
    found = subprocess.check_output([own / "bin/python", "-P", "-c", probe], text=True, timeout=60)
    assert Path(found.strip()).resolve().is_relative_to((project / "venv").resolve())


@LATER
def test_plugin_gives_a_cluster(project: Path, environ: dict[str, str]) -> None:
    pip = ("pip", "--disable-pip-version-check", "install", "--quiet", "pytest")
    assert run(project, environ, *pip).returncode == 0
    (project / "test_orders.py").write_text(A_TEST)
    done = run(project, environ, "pytest", "-q", "test_orders.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
