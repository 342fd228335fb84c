"""Allocate a loopback block `127.<block>.0.0/16` to each run.

A run reserves a block by binding an abstract Unix socket. Its name belongs to the network
namespace, like loopback addresses, and is freed when the last process that holds it exits. So
there is nothing to clean up, and two runs never share a block.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable, Sequence

FIRST, LAST = 64, 223


class NoFreeBlock(RuntimeError):
    """All blocks, or all candidate ports of a block, are in use."""


class Block:
    """A block, held until `release` and by every process that inherits `fileno()`."""

    def __init__(self, number: int, held: socket.socket) -> None:
        self.number = number
        self._held = held

    def address(self, third: int, fourth: int) -> str:
        return f"127.{self.number}.{third}.{fourth}"

    def fileno(self) -> int:
        return self._held.fileno()

    def release(self) -> None:
        """Release the block; it is free once no other process holds it."""
        self._held.close()


def take_block(among: Sequence[int] = range(FIRST, LAST + 1)) -> Block:
    """Reserve a random free block; raise `NoFreeBlock` if there is none."""
    for number in random.sample(among, len(among)):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            held.bind(f"\0onceproof/block/{number}")
        except OSError:
            held.close()
            continue
        return Block(number, held)
    raise NoFreeBlock(
        f"all {len(among)} loopback blocks are in use by onceproof runs; "
        "stop some of them (`onceproof doctor` lists them)"
    )


def free_ports(addresses: Iterable[str], *, count: int) -> int:
    """Return the first of `count` consecutive ports that are free on all addresses.

    Ports are below the kernel's ephemeral range. A wildcard listener blocks its port on every 127.x
    address, so each pair of address and port is probed with a bind.

    Raises:
        NoFreeBlock: no such ports were found.
    """
    addresses = list(addresses)
    bases = list(range(20_000, 31_000, count))
    random.shuffle(bases)
    for base in bases[:50]:
        if all(is_free(a, base + n) for n in range(count) for a in addresses):
            return base
    raise NoFreeBlock(
        f"no {count} consecutive ports between 20000 and 31000 are free on {addresses[0]}; "
        "find the process that listens on many ports (`ss -ltn`)"
    )


def is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
