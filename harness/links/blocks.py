"""A loopback block of its own for every run: `127.<block>.0.0/16`.

A block is taken by binding an abstract Unix socket. Such a name lives in the
network namespace, exactly as loopback addresses do, and is free again the moment the last process
that holds it is gone, so nothing has to be cleaned up and two runs can never share a block.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable, Sequence

FIRST, LAST = 64, 223


class NoBlock(RuntimeError):
    """All blocks, or all candidate ports of a block, are in use."""


class Block:
    """One block, held until `release` and by every process that inherits `fileno()`."""

    def __init__(self, number: int, held: socket.socket) -> None:
        self.number = number
        self._held = held

    def address(self, third: int, fourth: int) -> str:
        return f"127.{self.number}.{third}.{fourth}"

    def fileno(self) -> int:
        """The descriptor that holds the block."""
        return self._held.fileno()

    def release(self) -> None:
        """Let go; the block is free when nobody else holds it."""
        self._held.close()


def take_block(among: Sequence[int] = range(FIRST, LAST + 1)) -> Block:
    """Take a free block, any one of the numbers.

    Raises:
        NoBlock: every block is held by some run.
    """
    for number in random.sample(among, len(among)):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            held.bind(f"\0onceproof/block/{number}")
        except OSError:
            held.close()
            continue
        return Block(number, held)
    raise NoBlock(
        f"all {len(among)} loopback blocks are held by runs of onceproof; "
        "end some of them (`onceproof doctor` lists them)"
    )


def free_ports(addresses: Iterable[str], *, count: int) -> int:
    """The first of `count` consecutive ports that are free on every one of `addresses`.

    Ports stay below the kernel's ephemeral range. A wildcard listener anywhere on the machine
    blocks its port on every 127.x address, so each pair is probed by binding it.

    Raises:
        NoBlock: no such ports were found.
    """
    addresses = list(addresses)
    bases = list(range(20_000, 31_000, count))
    random.shuffle(bases)
    for base in bases[:50]:
        if all(is_free(a, base + n) for n in range(count) for a in addresses):
            return base
    raise NoBlock(
        f"no {count} consecutive ports between 20000 and 31000 are free on {addresses[0]}; "
        "look for a process that listens on many ports (`ss -ltn`)"
    )


def is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
