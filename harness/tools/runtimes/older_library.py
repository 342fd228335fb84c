"""Make confluent-kafka work with a librdkafka that is older than it requires.

Copied into the runtime's copy of the package `confluent_kafka`, and imported by it first. Wheels of
an old confluent-kafka are for Pythons that are no longer common, but the library that they contain
works with a newer binding: what producers and consumers call has hardly changed. The binding
compares `rd_kafka_version()` with its own version, so that its import of this function is replaced,
as are those of two functions that older libraries lack. Others that are missing belong to the admin
client; they are looked up when called, not when loaded.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

_EAGER: Final = ctypes.create_string_buffer(b"EAGER")
_ANSWERS: Final[dict[bytes, Callable[[], int]]] = {
    b"rd_kafka_version": lambda: 0x7FFFFFFF,
    # Since 1.6: before, there was one protocol, and no assignment was lost.
    b"rd_kafka_rebalance_protocol": lambda: ctypes.addressof(_EAGER),
    b"rd_kafka_assignment_lost": lambda: 0,
}
"""What these functions return: the first always, the others if the library lacks them."""
_RELOCATIONS, _DYNAMIC_SYMBOLS = 4, 11  # section types of ELF: SHT_RELA, SHT_DYNSYM
_kept: list[object] = []
"""The functions must not be freed."""


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
    file = Path(cimpl.__file__).resolve()
    content, library, start = file.read_bytes(), ctypes.CDLL(str(file)), _start(file)
    for name, answer in _ANSWERS.items():
        if name == b"rd_kafka_version" or not hasattr(library, name.decode()):
            places = list(imports(content, name))
            if not places:
                raise ImportError(f"{file} does not import {name.decode()}")
            for place in places:
                _replace(start + place, answer)


def _replace(at: int, answer: Callable[[], int]) -> None:
    """Make an import refer to a function of ours."""
    function = ctypes.CFUNCTYPE(ctypes.c_void_p)(answer)
    _kept.append(function)
    page = at & -mmap.PAGESIZE
    writable = ctypes.c_int(mmap.PROT_READ | mmap.PROT_WRITE)
    size = ctypes.c_size_t(mmap.PAGESIZE)
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(page), size, writable):
        raise ImportError("the imports of confluent-kafka cannot be changed")
    ctypes.c_uint64.from_address(at).value = ctypes.cast(function, ctypes.c_void_p).value or 0


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
