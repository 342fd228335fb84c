"""Scenarios in user files, and extensions by installed packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.catalogue import UnknownScenario, chosen
from onceproof.harness.history.folder import RunFolder
from onceproof.replaying import NoReplay, replay_of
from tests.unit.harness.history.test_run_record import RECORD

PAGES = Path(__file__).parents[3] / "docs" / "how-to"
SCENARIOS = """
    from dataclasses import replace
    from onceproof.scenarios import flagship

    MINE = replace(flagship()[0], name="mine-by-name", title="Theirs")
    SCENARIOS = (MINE,)
    """
VICTIM = """
from onceproof.harness.faults.targets.base import Victim


@dataclass(frozen=True, kw_only=True)
class Cache(Victim):
    written: ClassVar[str] = "cache"
    example: ClassVar[str] = "cache"

    def describe(self):
        return "their cache"

    def needs(self, verb, at):
        return None

    def kill(self, context, name, at):
        raise NotImplementedError
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return write


@pytest.mark.parametrize("name", ["MINE", "mine-by-name"])
def test_scenario_in_file_is_found_by_variable_or_name(name: str, write: Write) -> None:
    path = write("theirs.py", SCENARIOS)
    (scenario,) = chosen([f"{path}:{name}"])
    assert (scenario.name, scenario.source) == ("mine-by-name", f"{path}:{name}")


def test_file_can_import_neighbouring_module(write: Write) -> None:
    write("theirs_parts.py", SCENARIOS)
    path = write("uses_parts.py", "from theirs_parts import MINE as PART\n")
    (scenario,) = chosen([f"{path}:PART"])
    assert scenario.name == "mine-by-name"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SCENARIOS = ()", "has no scenario «MINE»; found none"),
        ("OTHER = 3", "has no scenario «MINE»; found none"),
        ("from onceproof.scenarios import flagship\nX = flagship()[0]", "found X. Give a variable"),
        ("MINE = ", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_error_in_file_is_reported(text: str, message: str, write: Write) -> None:
    path = write("wrong.py", text)
    with pytest.raises(UnknownScenario, match=re.escape(message)):
        chosen([f"{path}:MINE"])


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnknownScenario, match="there is no file"):
        chosen([f"{tmp_path}/none.py:MINE"])


def test_replay_reads_scenario_from_its_file(write: Write, tmp_path: Path) -> None:
    path = write("theirs.py", SCENARIOS)
    (scenario,) = chosen([f"{path}:MINE"])
    run = tmp_path / "run"
    run.mkdir()
    record = RECORD.model_copy(
        update={
            "scenario": scenario.name,
            "source": scenario.source,
            "subject": "another",
            "plan": [],
            "configuration": {},
        }
    )
    record.save(run)
    RunFolder(run).check_record()
    with pytest.raises(NoReplay, match="the subject of scenario mine-by-name has changed"):
        replay_of(run)
    path.unlink()
    record.model_copy(update={"source": f"{path}2.py:MINE"}).save(run)
    with pytest.raises(NoReplay, match="there is no file"):
        replay_of(run)


class TestInstalledPackage:
    """A folder on the path with a `dist-info`, as `importlib.metadata` expects."""

    @pytest.fixture
    def site(self, write: Write, tmp_path: Path) -> Path:
        fault, anomaly = map(example, ("add-a-fault.md", "add-an-anomaly.md"))
        output, subject = (example("add-an-output.md", n) for n in range(2))
        write("theirs_scenarios.py", SCENARIOS)
        (tmp_path / "theirs_faults.py").write_text(fault + VICTIM)
        (tmp_path / "theirs_anomaly.py").write_text(anomaly)
        (tmp_path / "theirs_outputs.py").write_text(output)
        (tmp_path / "theirs_subject.py").write_text(subject)
        write(
            "theirs-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n"
        )
        self.write_entry_points(write)
        return tmp_path

    def write_entry_points(self, write: Write, **changes: str) -> None:
        entry_points = {
            "scenarios": "theirs_scenarios\nsubject = theirs_subject",
            "faults": "theirs_faults",
            "anomalies": "theirs_anomaly",
            "outputs": "theirs_outputs",
        }
        lines = (
            f"[onceproof.{group}]\ntheirs = {m}\n" for group, m in (entry_points | changes).items()
        )
        write("theirs-1.0.dist-info/entry_points.txt", "".join(lines))

    def python(self, site: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            capture_output=True, text=True, timeout=120, cwd=site,
            env={**os.environ, "PYTHONPATH": str(site)},
        )  # fmt: skip

    def test_target_can_be_killed_but_not_paused(self, site: Path) -> None:
        program = (
            "from onceproof.harness.faults.by_hand import asked;"
            "print(asked('kill', ['cache']).describe());"
            "asked('pause', ['cache'])"
        )
        done = self.python(site, "-c", program)
        assert done.stdout == "SIGKILL their cache\n", done.stderr
        assert "cannot pause cache: expected kill" in done.stderr

    def test_scenarios_are_listed(self, site: Path) -> None:
        done = self.python(site, "-m", "onceproof", "list", "mine-by")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("mine-by-name  (about")

    def test_fault_is_parsed_and_round_trips_through_json(self, site: Path) -> None:
        program = textwrap.dedent("""
            from onceproof.harness.faults.by_hand import asked
            from onceproof.harness.schedule.scenario import ScheduledFault
            from onceproof.harness.schedule.as_json import schedule_from_json, schedule_to_json

            fault = asked("hang-up", ["pipeline", "leader:payments-0"])
            schedule = (ScheduledFault(name="a", do=fault),)
            assert schedule_from_json(schedule_to_json(schedule)) == schedule
            print(fault.describe())
            """)
        done = self.python(site, "-c", program)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("hang up on pipeline at ")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (
                '"hang-up pipeline ',
                '"cut pipeline ',
                "two faults are called cut: onceproof.harness.faults.links.cut_link.CutLink and "
                "theirs_faults.HangUp; rename one, or uninstall its package",
            ),
            (
                'written: ClassVar[str] = "cache"',
                'written: ClassVar[str] = "store, executor"',
                "two targets are called executor: onceproof.harness.faults.targets."
                "spark_executors.SparkExecutors and theirs_faults.Cache; rename one",
            ),
            (
                'written: ClassVar[str] = "cache"',
                'written: ClassVar[str] = "controller"',
                "two targets are called controller: onceproof.harness.faults.targets.brokers."
                "Target and theirs_faults.Cache; rename one",
            ),
        ],
    )
    def test_duplicate_fault_or_target_name_is_refused(
        self, site: Path, old: str, new: str, message: str
    ) -> None:
        module = site / "theirs_faults.py"
        assert old in module.read_text()
        module.write_text(module.read_text().replace(old, new))
        done = self.python(site, "-m", "onceproof", "fault")
        assert (done.returncode, done.stdout) == (3, "")
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_duplicate_schedule_class_is_refused(self, site: Path) -> None:
        module = site / "theirs_faults.py"
        module.write_text(module.read_text().replace("Cache(Victim)", "SparkDriver(Victim)"))
        done = self.python(
            site,
            "-c",
            "from onceproof.harness.schedule.as_json import schedule_from_json;"
            "schedule_from_json([{'is': 'ScheduledFault'}])",
        )
        assert "two classes of a schedule are called SparkDriver" in done.stderr

    def test_failed_import_names_the_entry_point(self, site: Path, write: Write) -> None:
        self.write_entry_points(write, scenarios="theirs_nothing")
        done = self.python(site, "-m", "onceproof", "list")
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            "entry point theirs = 'theirs_nothing' in onceproof.scenarios, of theirs" in done.stderr
        )
        assert len(done.stderr.splitlines()) == 1

    def test_anomaly_is_found_self_checked_and_refutes_claim(self, site: Path) -> None:
        program = textwrap.dedent("""
            from onceproof.checkers import History, check, ordered_append

            PHASES = [{"phase": phase, "outcome": "ok"} for phase in ("settle", "collect")]

            def judged(partition):
                places = {"a": 0, "b": partition}
                rows = [{"record": r, "key": "k", "partition": p} for r, p in places.items()]
                history = History.of(sends=rows, log=rows, phases=PHASES)
                return check(history, [ordered_append("input")])

            judgement = judged(0)
            assert judgement.claims[0].refuted_by == ()
            print([m.found for m in judgement.mutation_check if m.must_find == "scattered-key"])
            print(*judged(1).claims[0].refuted_by)
            """)
        done = self.python(site, "-c", program)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "[True]\nscattered-key\n"

    def test_anomaly_is_explained(self, site: Path) -> None:
        done = self.python(site, "-m", "onceproof", "explain", "scattered-key")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n ✗  ") == 2
        assert "\nrefutes      ordered\n" in done.stdout
        assert "\nfile         theirs_anomaly.py\n" in done.stdout

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("ANOMALY = ", "MINE = ", "expected a constant ANOMALY"),
            ('name="scattered-key"', 'name="Duplicate"', "the name Duplicate is taken"),
            ('name="scattered-key"', 'name="a b"', "invalid name 'a b'"),
            ('refutes=("ordered",)', 'refutes=("order",)', "unknown guarantee order:"),
        ],
    )
    def test_invalid_anomaly_is_reported(
        self, site: Path, old: str, new: str, message: str
    ) -> None:
        path = site / "theirs_anomaly.py"
        path.write_text(path.read_text().replace(old, new))
        done = self.python(site, "-m", "onceproof", "explain")
        assert (done.returncode, done.stdout) == (3, "")
        assert "theirs_anomaly: " in done.stderr
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_output_is_read(self, site: Path) -> None:
        program = textwrap.dedent("""
            import sqlite3
            from pathlib import Path
            from onceproof.cli.completing import outputs
            from onceproof.harness.user_pipeline.effects import ExpectedEffects
            from onceproof.harness.user_pipeline.identity import Rule
            from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
            from onceproof.harness.user_pipeline.outputs.output import Output

            where = OutputAccess(database="", reader=None, work=Path.cwd())
            output = Output.parse("sqlite:{work}/shop.db/orders", Rule.parse("json:$.id"))
            sink = output.open(where, ExpectedEffects())
            print(sink.size(), sink.effects(), sink.hanging())
            with sqlite3.connect("shop.db") as database:
                database.execute("CREATE TABLE orders (id TEXT, n INTEGER)")
                database.executemany("INSERT INTO orders VALUES (?, 1)", [("a",), ("b",), ("b",)])
            print(sink.size(), *(e.record for e in sink.effects()), sink.name, output.view)
            print(len({e.position for e in sink.effects()}), output.untested)
            print(outputs("sq"))
            """)
        done = self.python(site, "-c", program)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == [
            "0 [] False",
            "3 a b b shop.db/orders table",
            "3 What a reader sees who opened the database before a row was added.",
            "[('sqlite:', 'A table of an SQLite database.')]",
        ]

    @pytest.mark.parametrize(
        ("output", "message"),
        [
            ("sqlit:x", "topic:TOPIC[@read_uncommitted] or sqlite:FILE/TABLE."),
            ("sqlite:{wrok}/x", "unknown placeholder {wrok} in '{wrok}/x'"),
        ],
    )
    def test_output_is_validated_like_built_in_outputs(
        self, site: Path, output: str, message: str
    ) -> None:
        done = self.python(site, "-m", "onceproof", "verify", "--output", output, "--", "true")
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (
                "OUTPUTS: Final",
                "MINE: Final",
                "expected a constant OUTPUTS with a tuple of OutputKind",
            ),
            ('prefix="sqlite"', 'prefix="delta"', "the output delta:FOLDER is already defined"),
            ('prefix="sqlite"', 'prefix="a b"', "ValueError: invalid prefix 'a b': expected"),
            ('views={"table": SqliteTable}', "views={}", "sqlite: expected at least one view"),
            (
                'place="FILE/',
                'rules=("row:$",), place="FILE/',
                "sqlite: there are no rules named row",
            ),
        ],
    )
    def test_invalid_output_kind_is_reported(
        self, site: Path, old: str, new: str, message: str
    ) -> None:
        path = site / "theirs_outputs.py"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        done = self.python(site, "-m", "onceproof", "verify", "--output", "out", "--", "true")
        assert (done.returncode, done.stdout) == (3, "")
        where = "entry point theirs = 'theirs_outputs' in onceproof.outputs, of theirs: "
        assert where in done.stderr
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_subject_and_sink_work_in_a_scenario(self, site: Path) -> None:
        program = textwrap.dedent("""
            from dataclasses import replace
            from pathlib import Path
            from types import SimpleNamespace
            from onceproof.catalogue import chosen
            from onceproof.harness.sinks.base import Effect
            from onceproof.harness.subjects.expected import write_expected
            from theirs_subject import FirstOfEach

            (scenario,) = chosen(["consumers-behind-deduplication"])
            few = replace(scenario.workload, records=40)
            print(*write_expected(Path.cwd(), scenario.subject, few, seed=1))
            place = {"sink": "s", "view": "v", "position": "0", "ordinal": 0}
            one = Effect(record="a", effect_key="", digest="", **place)
            none = replace(one, record=None)
            there = [one, one, replace(one, record="b"), none, replace(none, position="1")]
            sink = FirstOfEach(SimpleNamespace(name="s", effects=lambda: there))
            print(*(each.record for each in sink.effects()))
            """)
        done = self.python(site, "-c", program)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == [
            "Counter({'payments-with-fees': 40}) Counter()",
            "a b None None",
        ]


def example(page: str, number: int = 0) -> str:
    return re.findall(
        r"^```python\n(.*?)^```", (PAGES / page).read_text(), re.DOTALL | re.MULTILINE
    )[number]
