"""`onceproof run --web`: a page that only looks, through several runs, to the last report."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import Started

pytestmark = [*MINUTES, pytest.mark.timeout(600)]

FIRST, SECOND = "transactional-librdkafka-quiet", "consume-transform-produce-quiet"


def test_page_shows_each_run_and_the_last_report(tmp_path: Path) -> None:
    run = Started("run", FIRST, SECOND, "--web", "--seed", "3", "--out", tmp_path)
    run.wait_for("Page, for one browser")
    found = re.search(r"http://(127\.0\.0\.1):(\d+)/#(\S+)", run.err)
    assert found is not None
    host, port, token = found[1], int(found[2]), found[3]

    def ask(method: str, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
        connection = HTTPConnection(host, port, timeout=120)
        connection.request(method, path, body and json.dumps(body), headers)
        return connection.getresponse()

    session = json.loads(ask("POST", "/session", {"token": token}).read())["session"]
    own = {"Authorization": f"Bearer {session}"}
    following = ask("GET", "/events", **own)
    lines = []
    while not lines or lines[-1]["event"] != "stream-ended":
        lines.append(json.loads(following.readline()))
        if lines[-1]["event"] == "state" and len(lines) % 10 == 0:
            assert ask("GET", "/lab/status", **own).status == 404, "it is only looked at"
    report = ask("GET", "/report", **own).read().decode()
    following.close()

    done = run.finish()
    assert f'<bdi class="id">{done.folder.name}</bdi>' in report
    begun = [line["scenario"] for line in lines if line["event"] == "run-began"]
    assert begun == [FIRST, SECOND]
    assert [line["event"] for line in lines].count("judged") == 2
    assert lines[-1]["exit_code"] == done.code
    second = next(n for n, line in enumerate(lines) if line.get("scenario") == SECOND)
    for part, topic in ((lines[:second], "payments"), (lines[second:], "payments-with-fees")):
        states = [line for line in part if line["event"] == "state"]
        topics = {one["topic"] for state in states for one in state["cluster"]["ends"]}
        assert topic in topics
    assert "payments-with-fees" not in str([s for s in lines[:second] if s["event"] == "state"])
