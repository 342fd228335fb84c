"""Decide whether a pipeline can be explored: `onceproof verify --explore`."""

from __future__ import annotations

from onceproof.harness.explore.bench.subjects.program import ProgramSubject
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.verify.options import BadTrial


def explorable(scenario: Scenario, backend: str) -> ProgramSubject:
    """Return the pipeline of a trial as a subject; raise `BadTrial` if it cannot be explored."""
    pipeline = scenario.subject
    assert isinstance(pipeline, OwnPipeline)
    if "bootstrap" not in pipeline.asked:
        raise BadTrial(
            "--explore needs {bootstrap} in the command or in --env: each trial has brokers of its "
            "own, or shares them with other trials"
        )
    orders = pipeline.orders
    wrong = {
        "a backend other than local": backend != "local",
        "several inputs": not isinstance(orders, Orders),
        "several outputs": len(pipeline.outputs) != 1,
        "an output that is no topic": pipeline.outputs[0].topic is None,
        "--dead-letters": pipeline.dead_letters is not None,
        "--upserts": pipeline.upserts is not None,
        "--event-time": orders.times is not None,
        "--instances": pipeline.instances > 1,
        "--image": bool(pipeline.image),
        "--compose": bool(pipeline.compose),
        "--feed": bool(pipeline.feed),
        "--kill-command": pipeline.deployed,
        "a Spark checkpoint": pipeline.spark,
    }
    for what, given in wrong.items():
        if given:
            raise BadTrial(f"--explore does not support {what}")
    return ProgramSubject(pipeline=pipeline, claims=scenario.claims)
