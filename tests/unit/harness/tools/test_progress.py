"""Progress of the set-up: what is printed of hundreds of reports."""

from __future__ import annotations

from onceproof.harness.tools.progress import Step, by_quarters


def test_message_comes_once_and_counts_come_by_quarters() -> None:
    seen: list[str] = []
    show = by_quarters(lambda step: seen.append(step.text))
    for done in range(49):
        show(Step(tool="kafka", message="downloading jars", done=done, total=48))
        show(Step(tool="spark", message="building"))
    show(Step(tool="kafka", message="kafka 4.2.0 is ready", finished=True))
    assert seen == [
        "kafka: downloading jars (0 of 48)",
        "spark: building",
        *(f"kafka: downloading jars ({n} of 48)" for n in (12, 24, 36, 48)),
        "kafka: kafka 4.2.0 is ready",
    ]
