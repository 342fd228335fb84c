"""Reproducible builds of the source distribution and the wheel.

The source distribution is built from a copy of the files that git knows, so that no stray file gets
in; the wheel from the source distribution, which shows that the latter is complete.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Built:
    """The built distributions."""

    sdist: Path
    wheel: Path


def git(*words: str, root: Path = ROOT) -> str:
    """The output of a git command in the repository."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def sources(root: Path = ROOT) -> list[str]:
    """Every file that git tracks or would add, without ignored ones."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", root=root)
    return sorted({name for name in listed.split("\0") if name and (root / name).exists()})


def build(out: Path, root: Path = ROOT) -> Built:
    """Build both into a folder, with the time of the last commit.

    Raises:
        subprocess.CalledProcessError: building failed; its output is shown.
    """
    epoch = int(git("log", "-1", "--format=%ct", root=root))
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "source"
        for name in sources(root):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, copy / name, follow_symlinks=False)
        made = Path(folder) / "made"
        _uv(epoch, "--sdist", "--out-dir", str(made), str(copy))
        (archive,) = made.glob("*.tar.gz")
        sdist = out / archive.name
        sdist.write_bytes(normalised(archive.read_bytes(), epoch))
        _uv(epoch, "--wheel", "--out-dir", str(made), str(sdist))
        (wheel,) = made.glob("*.whl")
        shutil.copyfile(wheel, out / wheel.name)
    return Built(sdist=sdist, wheel=out / wheel.name)


def normalised(archive: bytes, epoch: int) -> bytes:
    """A source distribution without its time, place and user of the build."""
    inner = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        tarfile.open(fileobj=inner, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            member.mtime = epoch
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(inner.getvalue(), mtime=epoch)


def _uv(epoch: int, *words: str) -> None:
    command = [
        *(sys.executable, "-m", "uv", "build", "--quiet", "--offline", "--no-build-isolation"),
        *("--no-config", "--python", sys.executable, *words),
    ]
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
    subprocess.run(command, check=True, env=variables, timeout=280)
