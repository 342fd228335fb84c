"""Build the scenarios of a dry run, and of a trial from what the dry run learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.harness.schedule.scenario import BadScenario, Scenario, ScheduledFault
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.profile import EMPTY, KEYS, NULL, OVERSIZE, Profile
from onceproof.harness.user_pipeline.several_inputs import SeveralInputs
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.verify.checks import check_group
from onceproof.verify.draft import LEAST, NAME, claims_of, too_few
from onceproof.verify.fine_print import fine_print_of
from onceproof.verify.hazards.hazard import Pipeline
from onceproof.verify.named_faults import named, schedule_of
from onceproof.verify.options import BadTrial, VerifyOptions
from onceproof.verify.plan import ALL, Plan
from onceproof.verify.workload import RECORDS

DRY_RUN: Final = f"{NAME}-dry-run"
_EACH: Final = 600
"""Orders generated for each fault."""
_STRIKE_SECONDS: Final = 6.0
"""Approximate duration of one fault."""
_LOAD: Final = 0.7
"""Share of a slow pipeline's speed at which it gets inputs, so that it catches up after faults."""
DRY_RUN_RECORDS: Final = 300
"""Records that a dry run sends."""
_DRY_RUN_RATE: Final = 60
_DRY_RUN_SECONDS: Final = 20
"""Maximum sending time; records of several files are all sent."""
_WINDOWS: Final = 4
"""Factor for records with event times, so that event time advances and windows close."""


def pipeline_of(scenario: Scenario, options: VerifyOptions, profile: Profile) -> Pipeline:
    """Return what hazards depend on; raise `BadTrial` if its group does not read all inputs."""
    subject = _subject_of(scenario)
    check_group(subject.orders.topics, profile)
    return Pipeline(
        profile=profile,
        inputs=subject.orders.topics,
        kinds=tuple(place.kind for place in subject.places),
        topics=tuple(place.topic for place in subject.places if place.topic is not None),
        spark=subject.spark,
        deployed=subject.deployed,
        fed=bool(subject.feed),
        upserts=subject.upserts is not None,
        plain_data=options.plain_data,
        transactional_input=options.transactional_input,
        odd_orders=_odd_orders(options, subject, profile),
    )


def _odd_orders(options: VerifyOptions, subject: OwnPipeline, profile: Profile) -> tuple[str, ...]:
    plain = options.plain_data or options.feed or options.data or options.others
    if plain or subject.upserts or subject.spark:
        return ()
    # It is unknown which field of an encoded record may grow.
    large = (OVERSIZE,) if options.encode is None else ()
    if subject.orders.times is not None:
        # No NULL: such a record has no event time. No EMPTY: it would hold back the watermark.
        return (KEYS, *(kind for kind in large if kind in profile.survives))
    known = (*large, *((NULL,) if subject.named_by_header else ()))
    # If one of two partitions were empty, one of two workers would be idle.
    several = (EMPTY,) if subject.orders.partitions > 2 else ()
    return (KEYS, *several, *(kind for kind in known if kind in profile.survives))


def planned(scenario: Scenario, options: VerifyOptions, profile: Profile, plan: Plan) -> Scenario:
    """Return the trial with the user's faults, or else with those of the plan.

    Its claims hold only if every hazard of the plan occurred, except those accepted untested. If
    all are accepted, any one hazard is enough.

    Raises:
        BadTrial: there are too few records for the faults.
    """
    orders = _subject_of(scenario).orders
    if named(options):
        return _with(scenario, options, orders, schedule_of(options), profile, plan)
    if isinstance(orders, Orders):
        orders = replace(orders, odd=_odd_orders(options, _subject_of(scenario), profile))
    faults = max(len(plan.schedule), 1)
    records, bearable = max(RECORDS, _EACH * faults), float(options.rate)
    if profile.speed is not None:
        bearable = min(bearable, profile.speed * _LOAD)
        records = min(records, max(LEAST, round(bearable * _STRIKE_SECONDS)) * faults)
    if options.records is None and options.data is None:
        orders = orders.of_size(records * _windows(orders))
    rate = min(bearable, orders.records / (_STRIKE_SECONDS * faults))
    orders = replace(orders, rate=max(1, round(rate)))
    return _with(scenario, options, orders, plan.schedule, profile, plan)


def _with(
    scenario: Scenario,
    options: VerifyOptions,
    orders: Orders | SeveralInputs,
    schedule: tuple[ScheduledFault, ...],
    profile: Profile,
    plan: Plan,
) -> Scenario:
    if orders.records < LEAST * len(schedule):
        raise too_few(orders, len(schedule))
    hazards = frozenset(hazard.name for hazard in plan.hazards)
    untested = fine_print_of(plan)
    subject = replace(
        _subject_of(scenario),
        orders=orders,
        rest=max(profile.rest, options.settle or 0.0),
        pause=profile.pause,
        profile=profile.sentences(),
        prepares=profile.prepares,
    )
    try:
        return replace(
            scenario,
            title=_title(scenario.title, options, plan),
            workload=orders,
            subject=subject,
            schedule=schedule,
            claims=claims_of(options, subject, schedule, hazards, untested),
        )
    except BadScenario as error:
        raise BadTrial(str(error)) from error


def _windows(orders: Orders | SeveralInputs) -> int:
    return _WINDOWS if orders.times is not None else 1


def _title(title: str, options: VerifyOptions, plan: Plan) -> str:
    if not plan.accepted:
        return title
    names = ", ".join(hazard.name for hazard in plan.accepted)
    return f"{title} ({'all hazards' if ALL in options.accepted else names} accepted untested)"


def _subject_of(scenario: Scenario) -> OwnPipeline:
    assert isinstance(scenario.subject, OwnPipeline)
    return scenario.subject


def dry_run_of(scenario: Scenario) -> Scenario:
    subject = _subject_of(scenario)
    orders = subject.orders
    times = _windows(orders)
    few = orders.of_size(min(DRY_RUN_RECORDS * times, orders.records))
    few = replace(few, rate=max(_DRY_RUN_RATE * times, few.records // _DRY_RUN_SECONDS))
    return replace(
        scenario,
        name=DRY_RUN,
        title="Dry run: no faults, few records",
        workload=few,
        subject=replace(subject, orders=few),
        claims=tuple(replace(claim, expect=None) for claim in scenario.claims),
    )
