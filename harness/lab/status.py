"""The current state of a lab, as plain data.

Every broker is asked separately, and the majority's answer is shown. An isolated broker may still
report itself as leader, which is shown as `dissent`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from onceproof.harness.context.pipeline import Pipeline
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.metadata import ClusterView, Replicas
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, QUEUE_AUDIENCES, broker_name
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.workload.control import Producers

_Vote = tuple[int, frozenset[int]]


def bootstraps(context: RunContext) -> dict[str, str]:
    """Return `bootstrap.servers` for every audience; the auditor's bypasses the proxies.

    Without Kafka brokers, return the addresses of the queue broker.
    """
    stage = context.stage
    if stage.brokers:
        return {audience: stage.bootstrap(audience) for audience in (*AUDIENCES, AUDITOR)}
    return {audience: stage.queue_broker(audience) for audience in (*QUEUE_AUDIENCES, AUDITOR)}


def status(context: RunContext, executions: Iterable[FaultExecution]) -> dict[str, Any]:
    disturbed = context.stage.disturbed()
    nodes = context.stage.nodes
    return {
        "nodes": {node: _state(disturbed.get(node)) for node in nodes},
        "partitions": _partitions(context),
        "links": {link: what for link, what in sorted(disturbed.items()) if link not in nodes},
        "faults": [fault_of(execution) for execution in executions],
        "workload": _workload(context.producers) if context.producers.total else None,
        "pipeline": _pipeline(context.pipeline) if context.subject.offers else None,
    }


def _state(disturbed: str | None) -> str:
    if disturbed is None:
        return "up"
    return "paused" if disturbed == "paused" else "down"


def _workload(producers: Producers) -> dict[str, Any]:
    return {"acknowledged": producers.acknowledged, "records": producers.total}


def _pipeline(pipeline: Pipeline) -> dict[str, Any]:
    state = "up" if pipeline.alive() else "down"
    return {"state": state, "progress": pipeline.shortly()}


def fault_of(execution: FaultExecution) -> dict[str, Any]:
    return {
        "name": execution.at.name,
        "does": execution.at.do.describe(),
        "target": execution.target,
        "state": execution.state,
        "took_effect": execution.took_effect,
        "detail": execution.detail,
        "evidence": execution.evidence,
        "active": execution.active,
        "holding": execution.holding,
        "messages": [dict(event) for event in execution.messages()],
    }


def _partitions(context: RunContext) -> list[dict[str, Any]]:
    # A paused broker accepts connections but never answers.
    asked = {n: view for n, view in context.views().items() if context.answers(broker_name(n))}
    with ThreadPoolExecutor(max(1, len(context.stage.brokers))) as pool:
        by_node = dict(zip(asked, pool.map(_replicas_of, asked.values()), strict=True))
    return [
        _agreed(key, {node: replicas[key] for node, replicas in by_node.items() if key in replicas})
        for key in sorted({key for replicas in by_node.values() for key in replicas})
    ]


def _replicas_of(view: ClusterView) -> dict[tuple[str, int], Replicas]:
    with view:
        return {(found.topic, found.partition): found for found in view.clients() or ()}


def _agreed(key: tuple[str, int], by_node: Mapping[int, Replicas]) -> dict[str, Any]:
    votes: Counter[_Vote] = Counter((r.leader, r.in_sync) for r in by_node.values())
    (leader, in_sync), _ = votes.most_common(1)[0]
    return {
        "topic": key[0],
        "partition": key[1],
        "leader": broker_name(leader) if leader >= 0 else None,
        "in_sync": sorted(in_sync),
        "replicas": sorted(frozenset[int]().union(*(r.replicas for r in by_node.values()))),
        "dissent": {
            broker_name(node): broker_name(r.leader) if r.leader >= 0 else None
            for node, r in by_node.items()
            if r.leader != leader
        },
    }
