"""The pytest plugin with real clusters: `pytest -n 2`, a killed test process, a scenario."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import psutil
import pytest

from onceproof.harness.processes.processes import MARKER
from onceproof.harness.wait import wait_until
from tests.end_to_end.catalogue import LATER

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

FAULTS = """
    import pytest
    from confluent_kafka import Consumer, Producer, TopicPartition

    import reports

    def send(producer, topic, values):
        failed = []
        for value in values:
            producer.produce(topic, str(value), on_delivery=lambda e, _: e and failed.append(e))
        assert producer.flush(90) == 0
        assert not failed

    def arrived(cluster, topic, count):
        consumer = Consumer({"bootstrap.servers": cluster.bootstraps["auditor"], "group.id": topic})
        consumer.assign([TopicPartition(topic, 0, 0)])
        seen = []
        while len(seen) < count and (some := consumer.consume(count, 30)):
            seen += [int(message.value()) for message in some]
        consumer.close()
        return seen

    @pytest.mark.parametrize("fault", ["kill", "cut", "pause", "stop"])
    def test_the_leader_in_trouble(onceproof_cluster, fault):
        assert reports.WHOSE == "theirs"
        topic = onceproof_cluster.topic("orders")
        producer = Producer(
            {
                "bootstrap.servers": onceproof_cluster.bootstrap,
                "enable.idempotence": True,
                "socket.timeout.ms": 6_000,
            }
        )
        send(producer, topic, range(100))
        way = ("pipeline",) if fault == "cut" else ()
        with onceproof_cluster.fault(fault, *way, f"leader:{topic}-0") as trouble:
            if fault == "cut":
                trouble.wait_until_took_effect()
                trouble.heal()
            send(producer, topic, range(100, 200))
            trouble.healed or trouble.wait_until_took_effect()
        assert arrived(onceproof_cluster, topic, 200) == list(range(200))
    """
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "faults-in-your-tests.md"
HANGING = """
    import signal

    def test_that_never_ends(onceproof_cluster):
        print("UP", onceproof_cluster.topic("orders"), flush=True)
        signal.pause()
    """
MARKED = """
    import pytest

    @pytest.mark.onceproof_scenario("idempotent-librdkafka-quiet", seed=4)
    def test_after_the_verdict(onceproof_judged):
        assert set(onceproof_judged.verdicts.values()) == {"unexercised"}
        assert onceproof_judged.html.exists()
    """


def project(folder: Path, text: str) -> list[str | Path]:
    """Create a project whose package is named like one of ours; returns its test command."""
    (folder / "reports").mkdir()
    (folder / "reports" / "__init__.py").write_text('WHOSE = "theirs"\n')
    (folder / "test_it.py").write_text(textwrap.dedent(text))
    return [sys.executable, "-m", "pytest", "--rootdir", folder, "-p", "no:cacheprovider", "-s"]


def lab_processes(name: str) -> list[str]:
    """The labs of a pytest process and the processes that they started."""
    labs, found = set(), []
    for process in psutil.process_iter(["pid", "cmdline"]):
        words = process.info["cmdline"] or []
        if name in words and "lab" in words:
            labs.add(str(process.info["pid"]))
            found.append(" ".join(words))
    for process in psutil.process_iter(["environ", "name"]):
        marker = (process.info["environ"] or {}).get(MARKER, "")
        if marker.partition("-")[0] in labs:
            found.append(f"{process.info['name']} of {marker}")
    return found


def processes_of(folder: Path) -> list[str]:
    """Processes whose command line mentions a folder."""
    return [
        " ".join(words)
        for process in psutil.process_iter(["cmdline"])
        if (words := process.info["cmdline"] or []) and any(str(folder) in word for word in words)
    ]


@LATER
def test_xdist_workers_use_separate_clusters(tmp_path: Path) -> None:
    command = project(tmp_path, FAULTS)
    on_the_page = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[
        0
    ]
    (tmp_path / "test_page.py").write_text(on_the_page)
    junit = tmp_path / "junit.xml"
    done = subprocess.run(
        [*command, "-n", "2", f"--junitxml={junit}", tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=560,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
    cases = ElementTree.parse(junit).getroot().iter("testcase")
    properties = [{p.get("name"): p.get("value") for p in case.iter("property")} for case in cases]
    runs = {case["onceproof_run"] for case in properties}
    assert (len(properties), len(runs)) == (5, 2)
    assert all(case["onceproof_seed"] and case["onceproof_faults"] for case in properties)
    for run in runs:
        assert (Path(run) / "report.html").exists()
        assert run in done.stdout.split("= onceproof =")[-1]
    assert not processes_of(tmp_path)


@LATER
def test_killed_test_process_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*project(tmp_path, HANGING), tmp_path],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = ""
    for line in process.stdout:
        output += line
        if "UP orders-1" in line:
            break
    else:
        pytest.fail(output)
    name = f"pytest-{process.pid}"
    running = lab_processes(name)
    assert any("java" in word for word in running), running
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()
    wait_until(
        lambda: not lab_processes(name) and not processes_of(tmp_path),
        what="the lab and its brokers to be gone",
        seconds=60,
        seen=lambda: lab_processes(name) + processes_of(tmp_path),
    )
    (run,) = (tmp_path / "runs").iterdir()
    assert (run / "report.html").exists(), "it ended in an orderly way"


def test_scenario_runs_as_a_test(tmp_path: Path) -> None:
    done = subprocess.run(
        [*project(tmp_path, MARKED), tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(
        r"idempotent-librdkafka-quiet, seed 4: unexercised\n  .*report\.html", done.stdout
    )
