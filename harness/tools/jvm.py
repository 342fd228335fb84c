"""Start JVMs with English and UTF-8, independently of the machine's locale.

A Turkish locale breaks code that compares lower-cased names. A JVM decodes arguments and file names
by the environment's locale, which no JVM option overrides.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

ENVIRONMENT: Final[Mapping[str, str]] = {"LC_ALL": "C.UTF-8"}
OPTIONS: Final = ("-Duser.language=en", "-Duser.country=US")


def jvm(java: Path, *options: str) -> list[str]:
    settings = (f"{name}={value}" for name, value in ENVIRONMENT.items())
    return ["/usr/bin/env", *settings, str(java), *OPTIONS, *options]


def properties(settings: Mapping[str, object]) -> str:
    """Format Java properties in ASCII, because Kafka and Spark use different encodings."""
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
    """Quote an option for `_JAVA_OPTIONS`, which supports quotes but no escapes."""
    return "'\"'".join(f'"{part}"' for part in option.split('"'))


def quoted_for_spark(option: str) -> str:
    """Quote an option for `spark.driver.extraJavaOptions`."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
