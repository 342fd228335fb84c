"""Finding a Java: vendors' version output, the order of the search, and error messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.harness.tools import java
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.java import Java

OUTPUTS = {
    'openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)': 17,
    'openjdk version "21" 2023-09-19\nOpenJDK Runtime Environment (build 21+35-2513)': 21,
    'openjdk version "11.0.2" 2019-01-15\nOpenJDK 64-Bit Server VM 18.9 (build 11.0.2+9)': 11,
    'java version "1.8.0_292"\nJava(TM) SE Runtime Environment (build 1.8.0_292-b10)': 8,
    'java version "9"\nJava(TM) SE Runtime Environment (build 9+181)': 9,
    'openjdk version "22-ea" 2024-03-19\nOpenJDK Runtime Environment (build 22-ea+16)': 22,
    'openjdk version "25.0.3" 2026-04-21 LTS\nOpenJDK Runtime Environment Temurin-25': 25,
    'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.9" 2023-10-17': 17,
    'openjdk version "17.0.8" 2023-07-18\nIBM Semeru Runtime\nEclipse OpenJ9 VM': 17,
    'openjdk version "1.8.0_392-internal"\nOpenJDK 64-Bit Zero VM': 8,
    'java version "17.0.10" 2024-01-16 LTS\nJava(TM) SE Runtime Environment Oracle GraalVM': 17,
}


@pytest.mark.parametrize(("output", "expected"), OUTPUTS.items(), ids=range(len(OUTPUTS)))
def test_parses_version_output_of_each_vendor(output: str, expected: int) -> None:
    version = java.parse(output)
    assert version is not None
    assert java.major(version) == expected


@pytest.mark.parametrize(
    "output", ["", "bash: java: command not found", "The operation couldn't be completed. Unable"]
)
def test_output_without_a_version_is_rejected(output: str) -> None:
    assert java.parse(output) is None


def test_major_is_8_for_java_8_and_0_if_unknown() -> None:
    assert java.major("1.8.0_292") == 8
    assert java.major("ea") == 0


def make_look(versions: dict[str, str]) -> Callable[[Path], Java | None]:
    """Return a `look` that finds only the given programs."""

    def look(program: Path) -> Java | None:
        version = versions.get(str(program))
        home = program.parent.parent
        return Java(program=program, home=home, version=version) if version else None

    return look


DEBIAN_12 = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'


@pytest.fixture
def os_release(tmp_path: Path) -> Path:
    file = tmp_path / "os-release"
    file.write_text(DEBIAN_12)
    return file


def test_java_home_takes_precedence_over_path() -> None:
    look = make_look({"/home17/bin/java": "17.0.1", "/p/java": "21.0.1"})
    found = java.find({"JAVA_HOME": "/home17", "PATH": "/p"}, folders=(), look=look)
    assert found.home == Path("/home17")


def test_too_new_java_home_is_skipped() -> None:
    look = make_look({"/new/bin/java": "25.0.3", "/p/java": "17.0.15"})
    found = java.find({"JAVA_HOME": "/new", "PATH": "/empty:/p"}, folders=(), look=look)
    assert found.version == "17.0.15"


def test_usual_folders_are_searched_last(tmp_path: Path) -> None:
    program = tmp_path / "java-17" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.touch()
    found = java.find({"PATH": "/x"}, folders=[tmp_path], look=make_look({str(program): "17.0.2"}))
    assert found.program == program


def test_too_old_java_error_suggests_an_install_command(os_release: Path) -> None:
    look = make_look({"/p/java": "11.0.2"})
    with pytest.raises(SetupError) as caught:
        java.find({"PATH": "/p"}, folders=(), os_release=os_release, look=look)
    message = str(caught.value)
    assert "Java 11.0.2 (/p/java) is too old" in message
    assert "apt-get install -y openjdk-17-jdk-headless" in message


def test_too_new_java_is_refused(os_release: Path) -> None:
    look = make_look({"/p/java": "25"})
    with pytest.raises(SetupError, match=r"Java 25 .* is too new for Spark"):
        java.find({"PATH": "/p"}, folders=(), os_release=os_release, look=look)


def test_missing_java_error_lists_searched_places(os_release: Path) -> None:
    with pytest.raises(SetupError, match=r"No Java was found \(none at JAVA_HOME=/gone"):
        java.find({"JAVA_HOME": "/gone"}, folders=(), os_release=os_release, look=make_look({}))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (DEBIAN_12, "apt-get install -y openjdk-17-jdk-headless"),
        ("ID=debian\nVERSION_ID=13\n", "apt-get install -y openjdk-21-jdk-headless"),
        ("ID=linuxmint\nID_LIKE='ubuntu debian'\n", "apt-get install -y openjdk-21-jdk-headless"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install -y java-21-openjdk-devel"),
        ('ID="amzn"\nID_LIKE="fedora"\n', "dnf install -y java-21-amazon-corretto-devel"),
        (
            'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n',
            "zypper install -y java-21-openjdk-devel",
        ),
        ("ID=arch\n", "pacman -S --noconfirm jdk21-openjdk"),
        ("ID=nixos\n", None),
        ("", None),
    ],
)
def test_install_command_of_each_distribution(
    tmp_path: Path, facts: str, expected: str | None
) -> None:
    file = tmp_path / "os-release"
    file.write_text(facts)
    assert java.install_command(file) == expected


def test_jdk_version_is_read_from_its_release_file(tmp_path: Path) -> None:
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/false\n")
    program.chmod(0o755)
    (tmp_path / "jdk" / "release").write_text('IMPLEMENTOR="X"\nJAVA_VERSION="21.0.4"\n')
    shim = tmp_path / "java"
    shim.symlink_to(program)
    found = java.look_at(shim)
    assert found is not None
    assert (found.version, found.home) == ("21.0.4", (tmp_path / "jdk").resolve())


def test_shim_without_release_file_is_run(tmp_path: Path) -> None:
    shim = tmp_path / "shims" / "java"
    shim.parent.mkdir()
    shim.write_text("""#!/bin/sh
{ echo '    java.home = /opt/some jdk'; echo 'openjdk version "17.0.1"'; } >&2
""")
    shim.chmod(0o755)
    found = java.look_at(shim)
    assert found is not None
    assert (found.version, found.home) == ("17.0.1", Path("/opt/some jdk"))


def test_failing_or_missing_program_is_not_java(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "java"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert java.look_at(broken) is None
    assert java.look_at(tmp_path / "nothing") is None


def test_inaccessible_folder_is_skipped(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    assert java.look_at(closed / "java") is None
