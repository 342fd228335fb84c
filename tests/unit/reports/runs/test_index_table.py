"""Rows of the run index: states, flakiness, claims, trends and terminal output."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.flaky import flaky
from onceproof.reports.runs.rows import headline, rows
from onceproof.reports.runs.run import Found, Run, RunState, Unread
from onceproof.reports.runs.strip import LINE, SHOWN, signs, strip
from onceproof.reports.runs.terminal import print_index
from tests.unit.reports.runs.making import WRONG, claim_result, run
from tests.unit.reports.test_html import HOSTILE

UNJUDGED = replace(run(5), claims=(), verdict=None)


def printed(*runs: Run, unread: tuple[Unread, ...] = ()) -> str:
    out = io.StringIO()
    print_index(Found(runs=runs, unread=unread), out)
    return out.getvalue()


# States.


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (run(), RunState.EXPECTED),
        (run(0, WRONG), RunState.UNEXPECTED),
        (run(0, claim_result(), WRONG), RunState.UNEXPECTED),
        (run(0, claim_result(verdict=Verdict.VIOLATED)), RunState.EXPECTED),
        (run(finished=False), RunState.UNFINISHED),
        (run(0, WRONG, finished=False), RunState.UNEXPECTED),
        (
            run(0, claim_result(verdict=Verdict.UNKNOWN, expected=False), finished=False),
            RunState.UNFINISHED,
        ),
        (UNJUDGED, RunState.UNJUDGED),
        (replace(UNJUDGED, finished=False), RunState.UNFINISHED),
    ],
)
def test_state_of_a_run(found: Run, state: RunState) -> None:
    assert found.state is state


# Flaky.


@pytest.mark.parametrize(
    ("other", "same_seed"),
    [
        (run(2, WRONG), True),
        (run(2, WRONG, seed=8), False),
        (run(2, claim_result(verdict=Verdict.VIOLATED)), True),
        (run(2, claim_result(), claim_result("ordered a → b")), True),
    ],
)
def test_different_outcomes_of_one_setup_are_flaky(other: Run, same_seed: bool) -> None:
    found = flaky([other, run(1)])
    assert found is not None
    assert found.same_seed is same_seed


def test_different_anomalies_are_different_outcomes() -> None:
    one = run(1, claim_result("exactly-once a → b", Verdict.VIOLATED, "lost-output"))
    other = run(
        2, claim_result("exactly-once a → b", Verdict.VIOLATED, "lost-output", "duplicate-output")
    )
    found = flaky([other, one, replace(one, seed=9)])
    assert found is not None
    assert found.says == (
        "exactly-once a → b: violated by lost-output in 2 runs and violated by lost-output and "
        "duplicate-output in 1 run",
    )


@pytest.mark.parametrize(
    "change",
    [
        {"setup": "other"},
        {"finished": False},
        {"code": None},
        {"own": "python job.py"},
        {"claims": (), "verdict": None},
    ],
)
def test_runs_that_are_not_comparable_are_not_flaky(change: dict[str, Any]) -> None:
    assert flaky([replace(run(2, WRONG), **change), run(1)]) is None


def test_different_reason_or_duration_is_not_flaky() -> None:
    other = replace(claim_result(), reason="For another reason.")
    assert flaky([run(2, other, seconds=99.0), run(1)]) is None


def test_claims_with_equal_names_are_compared_separately() -> None:
    """Such claims differ in the view of their sink."""
    both = (claim_result(), claim_result(verdict=Verdict.VIOLATED))
    assert flaky([run(2, *both), run(1, *both)]) is None
    assert flaky([run(2, *both), run(1, claim_result(), claim_result())]) is not None


many = st.lists(
    st.builds(
        lambda place, wrong, seed, setup, finished, code: run(
            place, *([WRONG] if wrong else []), seed=seed, setup=setup, finished=finished, code=code
        ),
        st.integers(1, 9),
        st.booleans(),
        st.integers(1, 3),
        st.sampled_from("ab"),
        st.booleans(),
        st.sampled_from(["abc", None]),
    ),
    max_size=8,
)


@given(many)
def test_flaky_agrees_with_pairwise_comparison(runs: list[Run]) -> None:
    """Oracle: two finished runs of known code have one setup and different claims."""
    counted = [r for r in runs if r.finished and r.code]
    pairs = [
        (a, b) for a in counted for b in counted if a.setup == b.setup and a.claims != b.claims
    ]
    found = flaky(runs)
    assert (found is not None) is bool(pairs)
    if found is not None:
        assert found.same_seed is any(a.seed == b.seed for a, b in pairs)


@given(many, st.randoms())
def test_order_of_runs_does_not_matter(runs: list[Run], draw: Any) -> None:
    named = [replace(r, folder=Path(f"{r.folder}-{n}")) for n, r in enumerate(runs)]
    mixed = list(named)
    draw.shuffle(mixed)
    assert rows(named) == rows(mixed)
    assert headline(rows(named), 0) == headline(rows(mixed), 0)


# Rows.


def test_rows_are_scenarios_by_backend_and_command() -> None:
    found = rows(
        [
            run(1),
            run(2),
            run(3, backend="docker"),
            run(4, scenario="verify", own="python a.py"),
            run(5, scenario="verify", own="python b.py"),
        ]
    )
    assert [[r.started_at[9] for r in row.runs] for row in found] == [
        ["3"],
        ["2", "1"],
        ["4"],
        ["5"],
    ]


def test_unexpected_and_flaky_rows_come_first() -> None:
    healed = [run(1, WRONG, scenario="healed", setup="old"), run(2, scenario="healed")]
    shaky = [run(1, WRONG, scenario="shaky"), run(2, scenario="shaky")]
    found = rows([run(1, scenario="a"), *healed, *shaky, run(3, WRONG, scenario="z")])
    assert [row.newest.scenario for row in found] == ["z", "shaky", "a", "healed"]
    assert [row.flaky is not None for row in found] == [False, True, False, False]


def test_groups_claims_of_finished_runs() -> None:
    unfinished = run(9, claim_result(verdict=Verdict.UNKNOWN, expected=False), finished=False)
    least = claim_result("at-least-once a → b")
    most = claim_result("at-most-once a → b")
    finished = [
        run(1, claim_result(), least, most),
        run(2, WRONG, least, most),
        run(3, WRONG, least, most),
    ]
    (row,) = rows([*finished, unfinished])
    odd, fine = row.claims
    assert odd.names == ("exactly-once a → b",)
    assert [(o.verdict, o.by, o.expected, o.count) for o in odd.outcomes] == [
        (Verdict.VIOLATED, ("duplicate-output",), False, 2),
        (Verdict.HOLDS, (), True, 1),
    ]
    assert fine.names == ("at-least-once, at-most-once a → b",)
    (alone,) = rows([unfinished])
    assert alone.claims[0].outcomes[0].verdict is Verdict.UNKNOWN


def test_describes_expected_runs_seeds_and_durations() -> None:
    (row,) = rows(
        [run(1), run(2, WRONG), run(3, seed=9, seconds=400.0), run(4, finished=False, seconds=1.0)]
    )
    assert row.expected == "2 of 3, 1 not finished"
    assert row.seeds == "seeds 7 and 9"
    assert row.took == "12.0 s (11.0 s to 6 min 40 s)"
    assert row.verdicts == (Verdict.VIOLATED, Verdict.HOLDS)
    (odd,) = rows([run(1, seconds=None)])
    assert (odd.took, odd.seeds) == ("–", "seed 7")
    (many_runs,) = rows([run(n, seed=n) for n in range(1, 9)])
    assert many_runs.seeds == "8 seeds, 1 to 8"


def test_headline_counts_runs_by_state() -> None:
    found = rows([run(1), run(2, WRONG), run(3, scenario="b", finished=False), UNJUDGED])
    assert headline(found, 2) == (
        "4 runs of 2 scenarios: 1 as expected, 1 not as expected, 1 not finished, "
        "1 nothing was judged, 1 scenario flaky, 2 folders without a readable report"
    )
    assert headline((), 0) == "0 runs of 0 scenarios"


# The trend.


def test_trend_goes_from_oldest_to_newest() -> None:
    found = strip([run(3, WRONG), run(2, code="other"), run(1)])
    assert [cell.run.started_at[9] for cell in found.cells] == ["1", "2", "3"]
    assert [cell.x for cell in found.cells] == [0, 19, 38]
    assert [cell.wrong for cell in found.cells] == [False, False, True]
    assert [cell.changed for cell in found.cells] == [False, True, True]
    assert found.says == (
        "3 runs, oldest first: holds, as expected 2 times, violated, not as expected."
    )
    assert signs([run(3, WRONG), run(2, finished=False), run(1)]) == ".~!"


def test_long_trend_drops_the_oldest_runs_and_wraps() -> None:
    newest = run(9, WRONG)
    found = strip([newest, *(run(1) for _ in range(SHOWN + 4))])
    assert len(found.cells) == SHOWN
    assert found.cells[-1].run is newest
    assert found.left_out == 5
    assert (found.cells[LINE].x, found.cells[LINE].y) == (0, 28)
    assert (found.width, found.height) == (19 * LINE, 28 * 3)
    assert signs([run(1)] * (SHOWN + 1)) == "…" + "." * SHOWN


# The terminal.


def test_terminal_shows_everything() -> None:
    gone = Unread(folder=Path("runs/x"), reason="It is cut short.", scenario="small")
    text = printed(run(2, WRONG), run(1), run(3, backend="docker"), unread=(gone,))
    for part in (
        "3 runs of 2 scenarios: 2 as expected, 1 not as expected, 1 scenario flaky, 1 folder",
        "small (docker)",
        "1 of 2",
        ".!",
        "flaky, with the same seed: small",
        "exactly-once a → b: violated by duplicate-output in 1 run and holds in 1 run",
        "runs/x (small)",
        "It is cut short.",
    ):
        assert part in text
    claims = "exactly-once a → b: violated ×1, should be holds, holds ×1"
    assert " ".join(claims.split()[:5]) in printed(run(2, WRONG), run(1))
    assert "\x1b" not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_terminal_output_has_no_control_characters(text: str) -> None:
    odd = claim_result(text, Verdict.VIOLATED, text, expected=False, should_be=text)
    hostile = run(1, odd, scenario=text, own=text, backend=text, title=text)
    gone = Unread(folder=Path(text.replace("\x00", "")), reason=text, scenario=text)
    out = printed(hostile, replace(hostile, claims=(claim_result(text),)), unread=(gone,))
    assert not set(out) & set("\x1b\x00\x07\u202e\u2066")
