"""Make confluent-kafka work with a librdkafka that is older than it requires.

Copied into the runtime's copy of the package `confluent_kafka`, and imported by it first. Wheels of
an old confluent-kafka are for Pythons that are no longer common, but the library that they contain
works with a newer binding: what producers and consumers call has not changed. The binding only
compares `rd_kafka_version()` with its own version, so that its import of this function is replaced.
Functions that the old library lacks are looked up when called, not when loaded.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_CHECK: Final = b"rd_kafka_version"
_NEWEST: Final = 0x7FFFFFFF
_RELOCATIONS, _DYNAMIC_SYMBOLS = 4, 11  # section types of ELF: SHT_RELA, SHT_DYNSYM
_kept: list[object] = []
"""The function must not be freed."""


def load() -> None:
    """Load the binding with the older library.

    Raises:
        ImportError: the binding has another form than expected.
    """
    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_LAZY)
    try:
        from confluent_kafka import cimpl
    finally:
        sys.setdlopenflags(flags)
    newest = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: _NEWEST)
    _kept.append(newest)
    address = ctypes.cast(newest, ctypes.c_void_p).value
    file = Path(cimpl.__file__).resolve()
    found = list(imports(file.read_bytes(), _CHECK))
    if not found:
        raise ImportError(f"{file} does not import {_CHECK.decode()}")
    start, libc = _start(file), ctypes.CDLL(None)
    for place in found:
        at = start + place
        page = at & -mmap.PAGESIZE
        writable = ctypes.c_int(mmap.PROT_READ | mmap.PROT_WRITE)
        if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), writable):
            raise ImportError(f"{file}: its imports cannot be changed")
        ctypes.c_uint64.from_address(at).value = address or 0


def imports(content: bytes, name: bytes) -> Iterator[int]:
    """Yield where a 64-bit ELF file has addresses of a function that it imports."""
    (first,) = struct.unpack_from("<Q", content, 40)
    size, number, _ = struct.unpack_from("<HHH", content, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", content, first + index * size) for index in range(number)
    ]
    for section in sections:
        symbols = sections[section[6]]
        if section[1] != _RELOCATIONS or symbols[1] != _DYNAMIC_SYMBOLS:
            continue
        names = sections[symbols[6]][4]
        for entry in range(section[4], section[4] + section[5], 24):
            place, info = struct.unpack_from("<QQ", content, entry)
            (at,) = struct.unpack_from("<I", content, symbols[4] + (info >> 32) * 24)
            if content[names + at : content.index(b"\0", names + at)] == name:
                yield place


def _start(file: Path) -> int:
    """Return the address at which a file is loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f" {file}"):
            return int(line.split("-")[0], 16)
    raise ImportError(f"{file} is not loaded")


load()
