"""Options that start a JVM independently of locale and encoding."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from onceproof.harness.tools.jvm import jvm, properties, quoted_for_environment

_JAVA = shutil.which("java")
_ODD = "/tmp/ñ'a\"b ł 💡\\n"
_SAYS = """
public class Says {
    public static void main(String[] args) throws Exception {
        var read = new java.util.Properties();
        read.load(new java.io.FileInputStream(args[1]));
        System.out.println("TITLE".toLowerCase().equals("title"));
        System.out.println(args[0].equals(read.getProperty("dir")));
        System.out.println(args[0].equals(System.getProperty("here")));
    }
}
"""


@pytest.mark.skipif(_JAVA is None, reason="no Java in PATH")
def test_jvm_reads_arguments_and_files_the_same_in_every_locale(tmp_path: Path) -> None:
    source, file = tmp_path / "Says.java", tmp_path / "some.properties"
    source.write_text(_SAYS)
    file.write_text(properties({"dir": _ODD, "more": 7}), encoding="ascii")
    assert _JAVA is not None
    done = subprocess.run(
        [*jvm(Path(_JAVA)), str(source), _ODD, str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "LC_ALL": "C",
            "JAVA_TOOL_OPTIONS": "-Duser.language=tr -Duser.country=TR",
            "_JAVA_OPTIONS": quoted_for_environment(f"-Dhere={_ODD}"),
        },
    )
    assert done.stdout.split() == ["true"] * 3
