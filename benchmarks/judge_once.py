"""Judge one history and say what was found, as JSON: `python -m benchmarks.judge_once FOLDER`.

The one thing to know: this is what `onceproof check FOLDER --format parquet` does, without telling
the story; it says what exactly was found, so that a fast wrong answer does not count.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from checkers import History, check, exactly_once


def main() -> None:
    """Judge exactly-once from the topic to the sink."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("folder", type=Path)
    options.add_argument("--engine", default="duckdb")
    options.add_argument("--master")
    options.add_argument("--memory", type=int, help="bytes")
    given = options.parse_args()
    claim = exactly_once("input", into="ledger", view="table", hazards={"replayed-batch"})
    judgement = check(
        History.load(given.folder), [claim], **_settings(given.engine, given.master, given.memory)
    )
    (judged,) = judgement.claims
    found = {findings.anomaly: findings.count for findings in judgement.findings}
    print(json.dumps({"verdict": judged.verdict, "reason": judged.reason, "found": found}))


def _settings(engine: str, master: str | None, memory: int | None) -> dict[str, Any]:
    if engine == "duckdb" and memory is None:
        return {}
    from checkers.engines.settings import Settings

    given = Settings(memory=memory)
    return {"settings": replace(given, engine=engine, master=master)}  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
