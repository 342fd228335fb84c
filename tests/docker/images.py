"""Stand-ins for the public images, built from packages where no registry can be reached.

They keep the contract of the public images as far as docker-compose.yml relies on it: user,
folders, variables, command, health check programs. They contain the jars and the toxiproxy of the
local stage.
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
from tests.docker.engine import NoEngine, do, install, run, show_progress

HERE = Path(__file__).parent / "images"
NAME = "onceproof-standin"
BASE = f"{NAME}/base:bookworm-python"
PACKAGES = "openjdk-17-jre-headless,procps,python3"
LABEL = "onceproof.sum"
OLD_BUILDER = {**os.environ, "DOCKER_BUILDKIT": "0"}
REGISTRIES = ("/etc/pip.conf", "/usr/local/share/ca-certificates")
"""Files that say how this machine reaches its package registries."""
SETTINGS = ("PIP_", "SSL_CERT_", "GOPROXY", "GOFLAGS", "GONOSUM", "REQUESTS_CA_")
"""Variables that do."""


def build(tools: StageTools) -> dict[str, str]:
    """Build missing or outdated images; return the variables that name them."""
    versions = tools.versions()
    kafka = f"{NAME}/kafka:{versions['kafka']}"
    proxy = f"{NAME}/toxiproxy:{versions['toxiproxy']}"
    database = f"{NAME}/postgres:{versions['postgresql']}"
    if run("docker", "image", "inspect", BASE) is None:
        build_base()
    wheel = postgres.find_wheel()
    build_image(kafka, "kafka", {"libs": tools.kafka_libs})
    build_image(proxy, "toxiproxy", {
        "toxiproxy": tools.toxiproxy, "toxiproxy-cli": toxiproxy_cli(),
    })  # fmt: skip
    build_image(database, "postgres", {
        # Laid out as in the wheel, because programs find libraries by a relative path.
        "programs/package/postgresql": wheel.installation,
        f"programs/{wheel.libraries.name}": wheel.libraries,
    })  # fmt: skip
    return {
        "KAFKA_IMAGE": kafka,
        "TOXIPROXY_IMAGE": proxy,
        "POSTGRES_IMAGE": database,
        "GATE_IMAGE": BASE,
    }


def build_base() -> None:
    """Import a Debian with a Java runtime and Python as the base image."""
    if shutil.which("debootstrap") is None:
        install("debootstrap", "debootstrap")
    show_progress("building a base image from Debian's packages")
    with tempfile.TemporaryDirectory(prefix="onceproof-base-") as folder:
        root = Path(folder) / "root"
        do("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", root)
        shutil.rmtree(root / "var/cache/apt/archives")
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run(["docker", "import", "-", BASE], check=True, stdin=tar.stdout, stdout=2)


def build_image(image: str, name: str, parts: dict[str, Path]) -> None:
    """Build an image from its folder and `parts`, unless an image with the same checksum exists."""
    wanted = checksum([HERE / name, *parts.values()])
    if run("docker", "image", "inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}',
           image) == wanted:  # fmt: skip
        return
    show_progress(f"building {image}")
    with tempfile.TemporaryDirectory(prefix="onceproof-image-") as folder:
        context = Path(folder) / "context"
        shutil.copytree(HERE / name, context)
        for place, source in parts.items():
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            (context / place).parent.mkdir(parents=True, exist_ok=True)
            copy(source, context / place)
        do(
            "docker", "build", "--quiet", "--build-arg", f"BASE={BASE}",
            "--label", f"{LABEL}={wanted}", "--tag", image, context,
            env=OLD_BUILDER,
        )  # fmt: skip


def build_onceproof(root: Path) -> str:
    """Build the image of onceproof itself, with the registries of this machine as it has them."""
    base, image = f"{BASE}-registries", f"{NAME}/onceproof"
    with temporary_folder() as folder:
        for path in REGISTRIES:
            source = Path(path)
            if source.exists():
                target = folder / path.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)
        settings = [f"{n}={v}" for n, v in os.environ.items() if n.startswith(SETTINGS)]
        lines = [f"FROM {BASE}", "COPY . /", "RUN update-ca-certificates"]
        lines += [f"ENV {each}" for each in settings]
        (folder / "Dockerfile").write_text("\n".join(lines))
        do("docker", "build", "--quiet", "--tag", base, folder, env=OLD_BUILDER)
    show_progress(f"building {image}")
    do(
        "docker", "build", "--quiet", "--network", "host", "--build-arg", f"BASE={base}",
        "--tag", image, root, env=OLD_BUILDER,
    )  # fmt: skip
    return image


def toxiproxy_cli() -> Path:
    """Build toxiproxy's client, which the health check runs."""
    target = cache.location() / f"toxiproxy-cli-{toxiproxy.VERSION}"

    def fill(folder: Path) -> None:
        found = go.in_path()
        if found is None:
            raise NoEngine("Go is missing, and toxiproxy-cli must be built: install it.")
        with temporary_folder() as work:
            do(
                found.program, "install", "-trimpath", "-modcacherw",
                f"{toxiproxy.MODULE}/cmd/cli@v{toxiproxy.VERSION}",
                env={**os.environ, "CGO_ENABLED": "0", "GOBIN": str(work), "GOWORK": "off",
                     "GOMODCACHE": str(work / "modules"), "GOCACHE": str(work / "cache")},
            )  # fmt: skip
            shutil.copy2(work / "cli", folder / "toxiproxy-cli")

    return cache.install(target, fill) / "toxiproxy-cli"


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="onceproof-build-") as folder:
        yield Path(folder)


def checksum(sources: Iterable[Path]) -> str:
    """A checksum of file names and contents."""
    total = hashlib.sha256()
    for source in sources:
        for file in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(f"{file.relative_to(source.parent)}\n".encode())
                with file.open("rb") as content:
                    total.update(hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()[:16]
