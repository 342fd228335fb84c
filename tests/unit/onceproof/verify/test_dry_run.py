"""What a dry run leaves: a reusable profile, and the printed plan."""

from __future__ import annotations

import io
import re
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.harness.tools import cache
from onceproof.verify import dry_run, profiles
from onceproof.verify.dry_run import print_plan
from onceproof.verify.hazards.hazard import Pipeline
from onceproof.verify.options import InputOptions, VerifyOptions
from onceproof.verify.plan import plan
from onceproof.verify.profiles import keep, kept, key_of
from tests.unit.onceproof.verify.profiles_made_up import COPY, PROFILES

OPTIONS = VerifyOptions(
    command=("python", "job.py"), folder=Path("/somewhere"), outputs=("enriched",)
)


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "location", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_profile_is_cached(profile: object) -> None:
    key = key_of(OPTIONS, "local")
    assert kept(key) is None
    keep(key, profile)  # type: ignore[arg-type]
    assert kept(key) == profile


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"commits": []', '{"colour": "red"}', "\0"])
def test_unreadable_cache_file_is_ignored(text: str) -> None:
    key = key_of(OPTIONS, "local")
    keep(key, COPY)
    profiles._file(key).write_text(text)
    assert kept(key) is None


def test_unwritable_cache_is_ignored(cache_folder: Path) -> None:
    cache_folder.write_text("a file in its place")
    keep(key_of(OPTIONS, "local"), COPY)
    assert kept(key_of(OPTIONS, "local")) is None


SAME_KEY = {
    "claims": ("at-least-once",), "preset": "brutal", "faults": ("kill program",),
    "schedule": Path("x"), "accepted": ("evicted",), "settle": 9.0, "records": 7,
    "plain_data": True,
    "transactional_input": True,
}  # fmt: skip
OTHER_KEY = {
    "instances": 2, "states": ("x.py:f",), "expects": ("x.py:f",), "ignored": ("json:$.at",),
    "command": ("python", "other.py"), "folder": Path("/else"), "topic": "in", "outputs": ("b",),
    "topics": ("state",), "identity": "key", "effects": "2", "effect_key": "key",
    "dead_letters": "dead", "dead_letter_identity": "key", "upserts": "key", "data_identity": "key",
    "data_key": "key", "partitions": 4, "rate": 5, "idempotency_key": "Key",
    "healthy": "http://127.0.0.1:1/", "stop_command": "stop", "kill_command": "kill",
    "image": "app:1", "compose": Path("compose.yml"), "service": "app",
    "variables": ("A=b",), "feed": "feed",
    "encode": "x.py:f", "decodes": ("x.py:f",), "others": (InputOptions(),),
    "event_time": "json:$.at", "event_time_format": "ms", "allowed_lateness": "1s",
}  # fmt: skip


def test_key_depends_only_on_the_pipeline(tmp_path: Path) -> None:
    key = key_of(OPTIONS, "local")
    assert key_of(OPTIONS, "docker") != key
    for name, value in SAME_KEY.items():
        assert key_of(replace(OPTIONS, **{name: value}), "local") == key, name
    for name, value in OTHER_KEY.items():
        assert key_of(replace(OPTIONS, **{name: value}), "local") != key, name
    assert {*SAME_KEY, *OTHER_KEY, "data"} == {field.name for field in fields(VerifyOptions)}
    data = replace(OPTIONS, data=tmp_path / "records.jsonl")
    data.data.write_text("{}")  # type: ignore[union-attr]
    before = key_of(data, "local")
    assert before != key
    data.data.write_text('{"a": 1}')  # type: ignore[union-attr]
    assert key_of(data, "local") != before


def test_plan_is_printed_with_its_hazards() -> None:
    out = io.StringIO()
    planned = plan(Pipeline(profile=COPY, inputs=("orders",)), "standard", ("evicted",))
    print_plan(COPY.sentences(), planned, out)
    printed = out.getvalue()
    assert f"Profile: {COPY.sentences()}\n" in printed
    assert f"{len(planned.schedule)} faults for these hazards:\n" in printed
    tested, untested = printed.split("Hazards that this trial does not test:\n")
    for hazard in (*planned.hazards, *planned.accepted):
        assert f"  {hazard.name} " in tested
        assert not re.search(rf"(  |, ){hazard.name}[:,]", untested)
    assert tested.count("(may stay untested)") == 1
    assert "  transaction-aborted, producer-fenced: it has no transactions\n" in untested


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        (None, "failed, although no fault was injected"),
        ("warm-up", "failed, although no fault was injected"),
        ("heal", "The stage failed, not your pipeline"),
    ],
)
def test_failed_stage_is_not_blamed_on_the_pipeline(
    phase: str | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dry_run, "print_result", lambda *_: None)
    phases = [] if phase is None else [SimpleNamespace(phase=phase, outcome="failed")]
    report = SimpleNamespace(phases=phases)
    outcome = SimpleNamespace(report=report, folder=Path("run"), exit_code=3)
    out = io.StringIO()
    assert dry_run.print_failure(outcome, out) == 3  # type: ignore[arg-type]
    assert message in out.getvalue()


def test_plan_of_named_faults_lists_required_hazards() -> None:
    out = io.StringIO()
    pipeline = Pipeline(profile=COPY, inputs=("orders",))
    print_plan("", plan(pipeline, "standard"), out, faults_named=True)
    assert "a claim is unexercised unless all of\nthese hazards occur" in out.getvalue()
    out.truncate(0)
    print_plan("", plan(pipeline, "standard", ("all",)), out, faults_named=True)
    assert "unexercised" not in out.getvalue()
    assert "The pipeline has these hazards:\n" in out.getvalue()
