"""`onceproof clean`: remove leftovers; without --yes only list them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from onceproof.cleaning.downloads import find_downloads
from onceproof.cleaning.item import Item
from onceproof.cleaning.leftovers import find_containers, find_processes, find_scratch
from onceproof.cleaning.runs import Selection, find_runs
from onceproof.errors import TROUBLE, exit_on_error
from onceproof.reports.text import line, plural


def clean(out: Path, selection: Selection, *, downloads: bool, yes: bool) -> int:
    with exit_on_error():
        groups: dict[str, list[Item]] = {
            f"runs in {out}": find_runs(out, selection),
            "processes of dead runs": find_processes(),
            "containers of dead runs": find_containers(),
            "folders of dead runs": find_scratch(),
        }
        if downloads:
            groups["downloads"] = find_downloads()
        for title, items in groups.items():
            _print_group(title, items)
        going = [item for items in groups.values() for item in items if item.stays is None]
        if selection.is_empty and groups[f"runs in {out}"]:
            print(
                "no run folder is selected: use --older-than 7d, --keep 5 or --expected-only; "
                "--keep 0 selects all"
            )
        if not going:
            print("nothing to remove")
            return 0
        what = f"{plural(len(going), 'item')}, {_size(sum(item.size or 0 for item in going))}"
        if not yes:
            print(f"would remove {what}; to remove them, add --yes")
            return 0
        return _remove(going, what)


def _remove(going: Sequence[Item], what: str) -> int:
    failed = 0
    for item in going:
        try:
            item.remove()
        except OSError as error:
            failed += 1
            print(
                f"onceproof: {item.name} could not be removed: {error.strerror or error}"
                f"{f' ({error.filename})' if error.filename else ''}. Check its permissions, then "
                "try again.",
                file=sys.stderr,
            )
    print(f"removed {what}" if not failed else f"{len(going) - failed} of {len(going)} removed")
    return TROUBLE if failed else 0


def _print_group(title: str, items: Sequence[Item]) -> None:
    sizes = [item.size for item in items if item.size is not None]
    total = f", {_size(sum(sizes))}" if sizes else ""
    print(f"{title}: {len(items) or 'none'}{total}")
    for item in items:
        size = [] if item.size is None else [_size(item.size)]
        words = ", ".join([*([item.detail] if item.detail else []), *size])
        does = "remove" if item.stays is None else "keep"
        why = f": {item.stays}" if item.stays else ""
        print(f"  {does:<6} {line(item.name)} ({line(words)}){why}")


def _size(count: int) -> str:
    if count >= 10**9:
        return f"{count / 10**9:.1f} GB"
    return f"{count / 10**6:.1f} MB" if count >= 10**5 else f"{count / 1000:.0f} kB"
