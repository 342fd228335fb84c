"""What to change in a pipeline of any kind."""

from __future__ import annotations

from typing import Final

from onceproof.reports.advice.advice import Advice, advice

_TUTORIAL: Final = "tutorial/test-your-pipeline.md"

ANY_PIPELINE: Final[tuple[Advice, ...]] = (
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap zombie-write",
        "Store the position of the input with the output, in one atomic step, and start from it. "
        "Or make a repeated write harmless: name the file or the row by the input's identity, and "
        "overwrite it.",
        page=_TUTORIAL,
    ),
    advice(
        "lost-output offset-ahead",
        "Commit the position of an input only when its output is durable.",
        page=_TUTORIAL,
    ),
    advice(
        "state-mismatch",
        "Change the state and the position of the input in one atomic step, and start from both.",
    ),
    advice(
        "reordered-output",
        "Write the outputs of one key from one thread, and do not write a failed output again "
        "after later ones.",
    ),
    advice(
        "unfounded-output",
        "Set `isolation.level=read_committed` in the pipeline's consumer "
        "(`kafka.isolation.level` in Spark): it may have processed a record of an aborted "
        "transaction.",
    ),
    advice(
        "wrong-output",
        "Compare the content in the witness with the input. If the output is right, tell "
        "onceproof what each input comes to with `--expect` or `--effects`.",
        page=_TUTORIAL,
    ),
    advice(
        "phantom-output",
        "Find out what else writes to this output. If the record is one of the trial's, its "
        "identity is read from the wrong field: give `--identity`.",
        page=_TUTORIAL,
    ),
    advice(
        "no-progress",
        "Read the last lines of the pipeline's log. Set a time-out for every call that can wait "
        "forever (`delivery.timeout.ms`, `statement_timeout`, a socket time-out), and let a "
        "supervisor restart what ends.",
    ),
    advice(
        "torn-output",
        "Write all outputs of an input in one transaction. If they are in different systems, write "
        "a row for the second one (an outbox) in the transaction of the first.",
        page="how-to/test-a-consumer-with-a-database.md",
    ),
)
