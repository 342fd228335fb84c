"""How a JVM of ours is started: in English and with UTF-8, whatever the machine's locale is.

A Turkish locale breaks what compares names by their small letters, and a JVM reads its arguments
and names of files by the environment's locale, which no option of it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

ENVIRONMENT: Final[Mapping[str, str]] = {"LC_ALL": "C.UTF-8"}
OPTIONS: Final = ("-Duser.language=en", "-Duser.country=US")


def jvm(java: Path, *options: str) -> list[str]:
    """The beginning of a command that starts a JVM."""
    settings = (f"{name}={value}" for name, value in ENVIRONMENT.items())
    return ["/usr/bin/env", *settings, str(java), *OPTIONS, *options]


def properties(settings: Mapping[str, object]) -> str:
    """A file of Java properties, in ASCII: Kafka and Spark read it in different encodings."""
    return "".join(f"{key}={_value(str(value))}\n" for key, value in settings.items())


def _value(text: str) -> str:
    units = memoryview(text.encode("utf-16-be")).cast("B")
    codes = (units[i] << 8 | units[i + 1] for i in range(0, len(units), 2))
    return "".join(_unit(code) for code in codes)


def _unit(code: int) -> str:
    if code == ord("\\"):
        return r"\\"
    return chr(code) if ord(" ") <= code <= ord("~") else f"\\u{code:04x}"


def quoted_for_environment(option: str) -> str:
    """An option as `_JAVA_OPTIONS` takes it, which knows quotes and no escapes."""
    return "'\"'".join(f'"{part}"' for part in option.split('"'))


def quoted_for_spark(option: str) -> str:
    """An option as `spark.driver.extraJavaOptions` takes it."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
