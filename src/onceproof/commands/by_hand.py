"""`onceproof fault`, `heal`, `status`, `link` and `end`: control a lab from another terminal."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from onceproof.errors import USAGE, exit_on_error
from onceproof.harness.lab.place import Place
from onceproof.interrupts import INTERRUPTED
from onceproof.lab_client import LabRefused, LabUnavailable, ask
from onceproof.reports.lab import print_status

REFUSED = 1
_EVERY = 1.0
"""Seconds between refreshes of `status --watch`."""


def fault(name: str | None, words: Sequence[str], *, lab: str | None) -> int:
    """Inject a fault; without a name, list all faults."""
    if name is None:
        _list()
        return 0
    with _exit_on_lab_error():
        found = ask(Place.find(lab), "POST", "/faults", {"fault": name, "arguments": list(words)})
        _print_fault(found)
        return 0


def _list() -> None:
    # These take a second to import, and other commands do not need them.
    from onceproof.harness.faults.by_hand import by_hand
    from onceproof.harness.faults.roles import NODES
    from onceproof.harness.faults.victims import victims
    from onceproof.harness.links.disturbances import Way
    from onceproof.harness.links.topology import AUDIENCES

    faults, targets = by_hand().values(), victims()
    for entry in faults:
        print(entry.usage)
        print(_indented(entry.says))
        print(_indented(f"e.g. onceproof fault {entry.example}"))
    words = {"TARGET": NODES, "AUDIENCE": AUDIENCES, "SOURCE": [*AUDIENCES, "broker-<n>"]}
    print("\nvalues of the arguments in capitals:")
    for word, values in {**words, "WAY": get_args(Way)}.items():
        print(_indented(f"{word}: {', '.join(values)}"))
    print("\nmore targets of kill, stop and pause:")
    for victim in targets:
        print(_indented(f"{victim.written}: {', '.join(victim.verbs())}"))
        for verb, windows in victim.windows.items():
            print(_indented(f"{verb} --at {' | '.join(windows)}"))


def _indented(text: str) -> str:
    width = min(shutil.get_terminal_size().columns, 100)
    indent = 4 * " "
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def heal(name: str | None, *, messages: str | None, lab: str | None) -> int:
    """Heal a fault, and decide on the messages that it holds; without a name, heal all."""
    if messages is not None and name is None:
        print("onceproof: --messages needs the fault that holds them", file=sys.stderr)
        return USAGE
    with _exit_on_lab_error():
        place = Place.find(lab)
        if name is not None:
            body = {} if messages is None else {"messages": messages}
            healed = [ask(place, "POST", f"/faults/{name}/heal", body)]
        else:
            healed = ask(place, "POST", "/heal")
        for found in healed:
            _print_fault(found)
        if not healed:
            print("no fault is active")
        return REFUSED if any(found["state"] == "failed" for found in healed) else 0


def status(*, lab: str | None, watch: bool, as_json: bool) -> int:
    with _exit_on_lab_error():
        place = Place.find(lab)
        found = ask(place, "GET", "/status")
        while found is not None:
            if as_json:
                print(json.dumps(found, indent=2), flush=True)
            else:
                print_status(place.name, found, sys.stdout, anew=watch)
            if not watch:
                return 0
            found = _next_status(place)
        print(f"the lab {place.name} has ended")
        return 0


def _next_status(place: Place) -> Any | None:
    """Return the next status; None when the lab has ended."""
    while True:
        threading.Event().wait(_EVERY)
        try:
            return ask(place, "GET", "/status")
        except LabRefused as error:
            if not error.ending:
                raise
        except LabUnavailable:
            if place.answers():
                raise
            return None


def link(*, lab: str | None) -> int:
    with _exit_on_lab_error():
        print(ask(Place.find(lab), "POST", "/links")["address"])
        return 0


def end(*, lab: str | None, judge: bool) -> int:
    with _exit_on_lab_error():
        place = Place.find(lab)
        claims = ask(place, "GET", "/")["claims"]
        ask(place, "POST", "/end", {"judge": judge})
        if not claims:
            how = "ends without a verdict, because it is bare"
        elif judge:
            how = "ends and is judged; the verdict is printed where it was started"
        else:
            how = "ends without a verdict"
        print(f"the lab {place.name} {how}")
        return 0


def _print_fault(found: dict[str, Any]) -> None:
    print(f"{found['name']}: {found['state']}: {found['detail']}")


@contextmanager
def _exit_on_lab_error() -> Iterator[None]:
    try:
        with exit_on_error():
            yield
    except LabRefused as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(USAGE if error.usage else REFUSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
