"""Build Qpid Proton, an AMQP 1.0 client, when a run first needs it.

It is a source package and needs a C compiler, so it is optional. It is installed in its own folder,
outside the environment, unless the user has installed it with `onceproof[amqp]`.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from onceproof.harness.tools import cache, pip
from onceproof.harness.tools.error import SetupError

LOCK: Final = Path(__file__).with_name("proton.lock")


def proton() -> Path | None:
    """Return the folder to import Proton from; None: it is installed in the environment.

    Raises:
        SetupError: it cannot be built.
    """
    if find_spec("proton") is not None:
        return None
    lock_hash = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    python = f"{platform.python_implementation()}-{platform.python_version()}-{platform.machine()}"
    return cache.install(cache.location() / "proton" / f"{python}-{lock_hash}", _build)


def _build(folder: Path) -> None:
    try:
        pip.install(
            Path(sys.executable),
            ["--quiet", "--require-hashes", "--target", str(folder), "-r", str(LOCK)],
        )
    except SetupError as error:
        raise SetupError(
            f"The AMQP client could not be built: {error} It needs a C compiler, OpenSSL's headers "
            "and pkg-config (on Debian: gcc, python3-dev, libssl-dev, pkg-config)."
        ) from error
