"""`onceproof check` and `onceproof report`: judge a run folder again, or a foreign history.

A run folder names its claims and gets a new report. A foreign history gets its claims from the
command line, and its judgement goes to standard output. Each imports only what it needs, because
importing the harness takes longer than judging a small history.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from onceproof.checkers import BadClaim, BadHistory
from onceproof.checkers import check as judge
from onceproof.checkers.engines.not_enough_memory import NotEnoughMemory
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.folders import is_uri

if TYPE_CHECKING:
    from onceproof.checkers.imports import Imported

RUN = "run"
USAGE, TROUBLE = 2, 3
_LARGE: Final = 200_000
"""From this many rows, an imported history is moved from memory to files."""


def check(
    path: str | Path,
    *,
    format_: str | None = None,
    claims: Sequence[str] = (),
    settings: Settings | None = None,
    json: Path | None = None,
    unsealed: bool = False,
    options: dict[str, Any] | None = None,
) -> int:
    """Judge a run folder or a foreign history.

    Args:
        path: a path, or a URI with Spark.
        format_: `run` or one of `onceproof.checkers.imports.FORMATS`; None: detect it.
        claims: for foreign histories, see `checkers.imports.claims`; empty: all possible ones.
        options: further options of the format's reader.
    """
    settings, options = settings or Settings(), options or {}
    if is_uri(str(path)):
        from onceproof.commands.check_uri import check_uri

        return check_uri(
            str(path), format_, claims, settings, json, unsealed=unsealed, options=options
        )
    path = Path(path)
    if format_ == RUN or (format_ is None and (path / "run.json").exists()):
        if claims:
            return _usage(
                f"the claims of a run are in {path / 'run.json'}. To judge its history by "
                f"others: onceproof check {path / 'history'} --claim …"
            )
        return _check_run(path, settings, json, unsealed=unsealed)
    with _exit_on_error():
        format_ = format_ or _format(path)
        if options and format_ != "jepsen":
            return _usage(f"--{next(iter(options))} works only with --format jepsen.")
        if unsealed:
            if format_ != "parquet":
                return _usage("--unsealed works only with the sealed Parquet history of a run.")
            options = {"unsealed": True}
        return _check_foreign(path, format_, claims, settings, json, options)


def report(folder: Path) -> int:
    """Rewrite the reports of a run folder and print their paths."""
    from onceproof.errors import exit_on_error
    from onceproof.outcome import check_run

    with exit_on_error():
        outcome = check_run(_require_folder(folder))
        print(outcome.html)
        print(outcome.json)
        return 0


def _check_run(folder: Path, settings: Settings, json: Path | None, *, unsealed: bool) -> int:
    from onceproof.commands.judgement_output import write_json
    from onceproof.errors import exit_on_error
    from onceproof.outcome import check_run
    from onceproof.reports.console import print_result

    with exit_on_error():
        outcome = check_run(_require_folder(folder), settings=settings, unsealed=unsealed)
        print_result(outcome.report, sys.stdout, folder)
        if json is not None:
            write_json(json, outcome.judgement, str(folder))
        return outcome.exit_code


def _check_foreign(
    path: Path,
    format_: str,
    claims: Sequence[str],
    settings: Settings,
    json: Path | None,
    options: dict[str, Any],
) -> int:
    from onceproof.checkers.engines.temporary import temporary_folder
    from onceproof.checkers.imports.claims import all_claims, parse_claim
    from onceproof.commands.judgement_output import output_judgement

    with temporary_folder() as folder:
        imported = _read(path, format_, folder, options)
        # The tables in files are freed by now, but Arrow keeps their memory for later use.
        pa.default_memory_pool().release_unused()
        history = imported.history
        wanted = tuple(parse_claim(claim, history) for claim in claims) or all_claims(history)
        judgement = judge(history, wanted, settings=settings, promised=imported.promised)
    judgement = replace(judgement, unsealed=imported.unsealed)
    return output_judgement(judgement, str(path), imported.notes, json)


def _read(path: Path, format_: str, folder: Path, options: dict[str, Any]) -> Imported:
    """Read a foreign history; move a large one to files in the folder."""
    from onceproof.checkers.imports import read

    imported = read(path, format_, **options)
    history = imported.history
    if format_ == "parquet" or sum(map(history.rows, history)) < _LARGE:
        return imported
    return replace(imported, history=history.moved(folder))


def _format(path: Path) -> str:
    from onceproof.checkers.imports import BadImport, format_of

    if not path.exists():
        raise BadHistory(f"{path} does not exist; give a run folder or a history")
    try:
        return format_of(path)
    except BadImport as error:
        raise BadHistory(
            f"{path} is not a run folder (it has no run.json), nor a history of another format: "
            f"{error.problem}"
        ) from None


def _usage(problem: str) -> int:
    print(f"onceproof: {problem}", file=sys.stderr)
    return USAGE


def _require_folder(folder: Path) -> Path:
    from onceproof.harness.history.run_record import UnreadableRun

    if not folder.exists():
        raise UnreadableRun(f"{folder} does not exist; give a folder that `onceproof run` printed")
    return folder


@contextmanager
def _exit_on_error() -> Iterator[None]:
    """Print an expected error and exit; `onceproof.errors` would import the harness."""
    try:
        yield
    except (BadHistory, BadClaim) as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except NotEnoughMemory as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(TROUBLE)
    except OSError as error:
        what = f" ({error.filename})" if error.filename else ""
        print(
            f"onceproof: {error.strerror or error}{what}. Give an existing path that you can read, "
            "or write to.",
            file=sys.stderr,
        )
        sys.exit(TROUBLE)
