"""What a gate's container gets: addresses, and all modules that a plain Python needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.stage.docker_gate import address_of, copy_modules


def test_every_proxy_has_a_gate_of_its_own() -> None:
    proxies = [ProxySpec(name=f"p{n}", listen=":1", upstream="b:1") for n in range(30)]
    addresses = [address_of(proxies, proxy) for proxy in proxies]
    assert len({*addresses}) == 30
    assert all(address.startswith("127.0.0.1:") for address in addresses)


def test_anybody_can_read_the_modules(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        copy_modules(tmp_path / "gate")
    finally:
        os.umask(before)
    modes = {p.stat().st_mode & 0o777 for p in (tmp_path / "gate").rglob("*") if p.is_dir()}
    assert modes == {0o755}


def test_gate_starts_from_the_copied_modules_alone(tmp_path: Path) -> None:
    copy_modules(tmp_path)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "import onceproof.harness.links.gate.__main__ as gate; print(gate.__file__)"
    )
    # -I and -S: neither this environment's packages nor its variables.
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert Path(found.stdout.strip()).is_relative_to(tmp_path)
