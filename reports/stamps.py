"""Parse the time stamps of log lines, in the formats of the programs that a run consists of.

A stamp without a zone is the writer's local time. It is returned as if it were UTC and not `zoned`;
the caller determines the difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LOOKED_AT = 2_000
"""Bytes of a line that are searched."""

# 2026-11-22T19:44:16,090 · 2026-11-22 19:44:14.240 UTC · "time":"2026-11-22T14:23:23Z"
_ISO = re.compile(
    rb"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    rb"(?P<zone> ?(?:Z|UTC|GMT)\b|[+-]\d\d:?\d\d)?"
)
# 26/11/22 15:13:12 WARN …: Spark
_SPARK = re.compile(rb"(?P<date>\d\d/\d\d/\d\d) (?P<time>\d\d:\d\d:\d\d)\b")
# %4|1795357064.333|…: librdkafka
_SECONDS = re.compile(rb"%\d\|(?P<whole>\d{9,10})\.(?P<part>\d{1,9})\|")
_EARLY = 40
"""A stamp begins within so many bytes; one further on belongs to the message."""
_KEYED = re.compile(rb'"(?:time|ts|timestamp|@timestamp)"\s*:\s*"')


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """A time in seconds since 1970; `zoned` if its zone is certain."""

    at: float
    zoned: bool


def stamp(line: bytes) -> Stamp | None:
    line = line[:LOOKED_AT]
    if found := _SECONDS.match(line):
        return Stamp(at=float(found["whole"] + b"." + found["part"]), zoned=True)
    start = keyed.end() if line[:1] == b"{" and (keyed := _KEYED.search(line)) else 0
    if (iso := _ISO.search(line, start)) and iso.start() <= start + _EARLY:
        return _read(iso, "%Y-%m-%d", iso["zone"])
    if found := _SPARK.match(line):
        return _read(found, "%y/%m/%d", None)
    return None


def _read(found: re.Match[bytes], date: str, zone: bytes | None) -> Stamp | None:
    text = f"{found['date'].decode()} {found['time'].decode()}"
    try:
        whole = datetime.strptime(text, f"{date} %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:  # such as month 13
        return None
    part = found.groupdict().get("part")
    at = whole.timestamp() + (float(b"0." + part) if part else 0.0)
    return Stamp(at=at - _offset(zone), zoned=zone is not None)


def _offset(zone: bytes | None) -> float:
    """Return how many seconds a zone such as `+01:00` is ahead of UTC."""
    if zone is None or zone[:1] not in b"+-":
        return 0.0
    digits = zone[1:].replace(b":", b"")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])).total_seconds()
    return ahead if zone[:1] == b"+" else -ahead
