"""Hit every message of the transactional commit path with every fault: `make exact-faults`.

It fails only if a message was not hit exactly. How a client reacts is reported but not judged.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from onceproof.harness.message_faults.clients import CLIENTS, Client
from onceproof.harness.message_faults.combinations import BLOWS, MESSAGES, Combination, combinations
from onceproof.harness.message_faults.table import table, total
from onceproof.harness.message_faults.trial import Result, Trials
from onceproof.harness.stage.alone import alone
from onceproof.harness.tools.setup import ensure


def main(arguments: Sequence[str] | None = None) -> int:
    given = _options().parse_args(arguments)
    tools = ensure().stage
    assert tools is not None
    clients = [CLIENTS[name](tools) for name in given.client or CLIENTS]
    wanted = {client: _wanted(client, given) for client in clients}
    count = given.tries * sum(map(len, wanted.values()))
    results: list[Result] = []
    with (
        tempfile.TemporaryDirectory(prefix="onceproof-exact-") as folder,
        alone(Path(folder) / "stage", tools) as up,
    ):
        for client, combinations_of_client in wanted.items():
            with Trials(up, client) as trials:
                for combination in given.tries * combinations_of_client:
                    results.append(trials.attempt(combination))
                    _progress(results[-1], len(results), count)
    never_sent = {
        client.name: [m for m in client.never_sends if m in (given.message or MESSAGES)]
        for client in clients
    }
    print("\n".join([*table(results, never_sent), *total(results)]))
    return int(any(result.missed is not None for result in results))


def _wanted(client: Client, given: argparse.Namespace) -> list[Combination]:
    return [
        combination
        for combination in combinations(client.sends)
        if combination.message in (given.message or MESSAGES)
        and combination.blow.name in (given.blow or [blow.name for blow in BLOWS])
    ]


def _progress(result: Result, number: int, count: int) -> None:
    what = result.combination
    print(
        f"{number}/{count} {result.client}, {what.message}, {what.blow.name}: "
        f"{result.missed or 'hit'}; {result.outcome}; {result.seen}",
        file=sys.stderr,
        flush=True,
    )


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument(
        "--tries", type=int, default=1, help="attempts per combination (default: 1)"
    )
    options.add_argument(
        "--client",
        action="append",
        choices=CLIENTS,
        help="client to test; repeatable (default: all)",
    )
    options.add_argument(
        "--message",
        action="append",
        choices=MESSAGES,
        help="message to hit; repeatable (default: all)",
    )
    options.add_argument(
        "--blow",
        action="append",
        choices=[blow.name for blow in BLOWS],
        help="fault to inject; repeatable (default: all)",
    )
    return options


if __name__ == "__main__":
    sys.exit(main())
