"""`onceproof check URI --engine spark`: judge what only Spark reads, and write nothing there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from onceproof.checkers import History
from onceproof.checkers import check as judge
from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.engines.places import open_folder
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.folders import Folder
from onceproof.checkers.promised import RequiredHistory
from onceproof.checkers.seal import check_seal
from onceproof.commands.judgement_output import output_judgement
from onceproof.errors import USAGE, exit_on_error

_RUN: Final = "run"
_FORMATS: Final = (_RUN, "parquet")


def check_uri(
    uri: str,
    format_: str | None,
    claims: Sequence[str],
    settings: Settings,
    json: Path | None,
    *,
    unsealed: bool,
    options: dict[str, Any],
) -> int:
    """Judge a run folder or a Parquet history at a URI; see `onceproof.commands.check`."""
    if options:
        return _usage(f"--{next(iter(options))} works only with --format jepsen.")
    if format_ not in (None, *_FORMATS):
        return _usage(
            f"{uri}: expected format {' or '.join(_FORMATS)}, found {format_}, which is read from "
            "local files only. Copy it to this machine, and check the copy."
        )
    with exit_on_error(), open_folder(uri, settings) as folder:
        if (format_ or _format(folder)) == _RUN:
            if claims:
                return _usage(
                    f"the claims of a run are in {folder.place}/run.json. To judge its history "
                    f"by others: onceproof check {folder.place}/history --engine spark --claim …"
                )
            return _check_run(folder, uri, settings, json, unsealed=unsealed)
        return _check_history(folder, uri, claims, settings, json, unsealed=unsealed)


def _check_run(
    folder: Folder, uri: str, settings: Settings, json: Path | None, *, unsealed: bool
) -> int:
    from onceproof.harness.history.stored_run import load_stored
    from onceproof.harness.run.judge import judge_loaded

    record, loaded = load_stored(folder, unsealed=unsealed)
    return output_judgement(judge_loaded(record, loaded, settings).judgement, uri, (), json)


def _check_history(
    folder: Folder,
    uri: str,
    claims: Sequence[str],
    settings: Settings,
    json: Path | None,
    *,
    unsealed: bool,
) -> int:
    from onceproof.checkers.imports.claims import all_claims, parse_claim

    rows, changed = check_seal(folder, unsealed=unsealed)
    history = History.load(folder)
    wanted = tuple(parse_claim(claim, history) for claim in claims) or all_claims(history)
    judgement = judge(history, wanted, settings=settings, promised=RequiredHistory(rows=rows))
    return output_judgement(replace(judgement, unsealed=changed), uri, (), json)


def _format(folder: Folder) -> str:
    names = folder.names()
    if "run.json" in names:
        return _RUN
    if any(name.endswith(".parquet") for name in names):
        return "parquet"
    raise BadHistory(
        f"{folder.place}: expected a run folder (with run.json) or one with *.parquet, found "
        f"{', '.join(sorted(names)[:5]) or 'nothing'}. Other formats are read from local files "
        "only: copy them to this machine, and check the copy."
    )


def _usage(problem: str) -> int:
    print(f"onceproof: {problem}", file=sys.stderr)
    return USAGE
