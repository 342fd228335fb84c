"""Images that stand in for the public ones, built from packages where no registry can be reached.

They have names of their own and keep the contract of the public images as
far as docker-compose.yml relies on it: user, folders, variables, command, programs for the health
check. What they are made of is what the local stage runs: the same jars, the same toxiproxy.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from onceproof.harness.tools import cache, go, postgres, toxiproxy
from onceproof.harness.tools.setup import StageTools
from tests.docker.engine import NoEngine, do, install, run, told

HERE = Path(__file__).parent / "images"
NAME = "onceproof-standin"
BASE = f"{NAME}/base:bookworm"
PACKAGES = "openjdk-17-jre-headless,procps"
SUM = "onceproof.sum"


def build(tools: StageTools) -> dict[str, str]:
    """Build what is missing or was made from other files; returns the variables that name them."""
    versions = tools.versions()
    kafka = f"{NAME}/kafka:{versions['kafka']}"
    proxy = f"{NAME}/toxiproxy:{versions['toxiproxy']}"
    database = f"{NAME}/postgres:{versions['postgresql']}"
    if run("docker", "image", "inspect", BASE) is None:
        build_base()
    wheel = postgres.find_wheel()
    build_one(kafka, "kafka", {"libs": tools.kafka_libs})
    build_one(proxy, "toxiproxy", {
        "toxiproxy": tools.toxiproxy, "toxiproxy-cli": toxiproxy_cli(),
    })  # fmt: skip
    build_one(database, "postgres", {
        # Laid out as in the wheel, because programs find libraries by a relative path.
        "programs/package/postgresql": wheel.installation,
        f"programs/{wheel.libraries.name}": wheel.libraries,
    })  # fmt: skip
    return {"KAFKA_IMAGE": kafka, "TOXIPROXY_IMAGE": proxy, "POSTGRES_IMAGE": database}


def build_base() -> None:
    """A Debian with a Java runtime, from packages."""
    if shutil.which("debootstrap") is None:
        install("debootstrap", "debootstrap")
    told("building a base image from Debian's packages")
    with tempfile.TemporaryDirectory(prefix="onceproof-base-") as folder:
        root = Path(folder) / "root"
        do("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", root)
        shutil.rmtree(root / "var/cache/apt/archives")
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run(["docker", "import", "-", BASE], check=True, stdin=tar.stdout, stdout=2)


def build_one(image: str, name: str, parts: dict[str, Path]) -> None:
    """Build an image from its folder here and some files from elsewhere."""
    wanted = sum_of([HERE / name, *parts.values()])
    if run("docker", "image", "inspect", "--format", f'{{{{index .Config.Labels "{SUM}"}}}}',
           image) == wanted:  # fmt: skip
        return
    told(f"building {image}")
    with tempfile.TemporaryDirectory(prefix="onceproof-image-") as folder:
        context = Path(folder) / "context"
        shutil.copytree(HERE / name, context)
        for place, source in parts.items():
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            (context / place).parent.mkdir(parents=True, exist_ok=True)
            copy(source, context / place)
        do(
            "docker", "build", "--quiet", "--build-arg", f"BASE={BASE}",
            "--label", f"{SUM}={wanted}", "--tag", image, context,
            env={**os.environ, "DOCKER_BUILDKIT": "0"},
        )  # fmt: skip


def toxiproxy_cli() -> Path:
    """toxiproxy's own client, built like the server: the health check is made with it."""
    target = cache.location() / f"toxiproxy-cli-{toxiproxy.VERSION}"

    def fill(folder: Path) -> None:
        found = go.in_path()
        if found is None:
            raise NoEngine("Go is missing, and toxiproxy-cli must be built: install it.")
        with temporary() as work:
            do(
                found.program, "install", "-trimpath", "-modcacherw",
                f"{toxiproxy.MODULE}/cmd/cli@v{toxiproxy.VERSION}",
                env={**os.environ, "CGO_ENABLED": "0", "GOBIN": str(work), "GOWORK": "off",
                     "GOMODCACHE": str(work / "modules"), "GOCACHE": str(work / "cache")},
            )  # fmt: skip
            shutil.copy2(work / "cli", folder / "toxiproxy-cli")

    return cache.install(target, fill) / "toxiproxy-cli"


@contextlib.contextmanager
def temporary() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="onceproof-build-") as folder:
        yield Path(folder)


def sum_of(sources: Iterable[Path]) -> str:
    """A sum over names and contents."""
    total = hashlib.sha256()
    for source in sources:
        for file in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(f"{file.relative_to(source.parent)}\n".encode())
                with file.open("rb") as content:
                    total.update(hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()[:16]
