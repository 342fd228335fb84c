"""Run pip, and explain failures in a sentence.

Pip is used instead of a faster installer, because it honours the user's configuration (mirror,
proxy, certificates). This module uses only the standard library, because the bootstrap needs it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from onceproof.harness.tools.error import SetupError

_REASONS = (
    (
        r"No space left on device|Disk quota exceeded",
        "the disk is full. Free space, then try again.",
    ),
    (
        r"DO NOT MATCH THE HASHES|Hashes are required|hashes? (?:does|do) not match",
        "a downloaded package does not match the hash in the lock file. Try again; if the error "
        "persists, the registry or a proxy serves a different file.",
    ),
    (
        r"NewConnectionError|Failed to establish|NameResolution|name resolution|Connection refused"
        r"|Network is unreachable|ConnectTimeout|Read timed out|ProxyError|SSLError"
        r"|CERTIFICATE_VERIFY_FAILED|connection broken|Max retries",
        "the Python package registry cannot be reached. Check the network, or pip's configuration "
        "(`pip config list`), then try again.",
    ),
    (
        r"No matching distribution found for (\S+)",
        "the Python package registry that pip uses has no {0} that fits this machine.",
    ),
    (
        r"Permission denied|Read-only file system",
        "permission denied. Correct the permissions, then try again.",
    ),
)


def install_wheel(lock: Path, folder: Path) -> None:
    """Install the wheel that a lock names, without what it depends on, into a folder.

    Raises:
        SetupError: it cannot be downloaded, or does not have the lock's checksum.
    """
    arguments = [
        *("--target", str(folder), "--no-deps", "--no-compile", "--no-cache-dir"),
        *("--only-binary", ":all:", "--require-hashes", "--requirement", str(lock)),
    ]
    install(Path(sys.executable), arguments)


def install(
    python: Path,
    arguments: Sequence[str],
    *,
    log: Path | None = None,
    to: int | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Run `pip install` with an interpreter.

    With `log`, pip prints its progress, and its errors are appended to the log. With the file
    descriptor `to`, it prints both there. Without either it is silent.

    Raises:
        SetupError: pip failed; the message says why.
    """
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--no-input", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=to or (None if log else subprocess.DEVNULL),
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
        env={**environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    if log and done.stderr:
        with log.open("a") as journal:
            journal.write(done.stderr)
    if to and done.stderr:
        os.write(to, done.stderr.encode())
    if done.returncode != 0:
        raise SetupError(explain(done.stderr, log=log))


def explain(output: str, *, log: Path | None = None) -> str:
    for pattern, reason in _REASONS:
        if found := re.search(pattern, output, re.IGNORECASE):
            return f"Installing Python packages failed: {reason.format(*found.groups())}"
    errors = re.findall(r"^\s*error: (.+)$", output, re.MULTILINE | re.IGNORECASE)
    reason = errors[0].rstrip(".") if errors else "pip gave no reason"
    hint = f" See {log}." if log else ""
    return f"Installing Python packages failed: {reason}.{hint}"
