"""Whether a program is up, asked of a server that answers as a test says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.user_pipeline.health import Health, health_of
from onceproof.harness.user_pipeline.identity import BadRule


@pytest.fixture
def place() -> Iterator[str]:
    """The address of a server that answers `/503` with 503, and so on."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/nothing":
                return
            self.send_response(int(self.path.strip("/")))
            self.send_header("Location", "/200")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("status", [200, 204, 302, 404, 503])
def test_it_is_up_when_it_answers_with_success(place: str, status: int) -> None:
    health = Health([f"{place}/{status}"])
    assert health.look() is (status // 100 == 2)
    assert health.seen == f"{place}/{status} answered {status}"


def test_all_instances_must_be_up(place: str) -> None:
    assert Health([f"{place}/200", f"{place}/204"]).look()
    assert not Health([f"{place}/200", f"{place}/503"]).look()


def test_what_does_not_answer_is_not_up(place: str) -> None:
    silent = Health([f"{place}/nothing"])
    assert not silent.look()
    assert "did not answer" in silent.seen
    refused = Health(["http://127.0.0.1:9/"])
    assert not refused.look()
    assert refused.seen.startswith("http://127.0.0.1:9/ did not answer: ")
    refused.check_free()


def test_nobody_else_may_answer_before_it_starts(place: str) -> None:
    for status in (200, 503):
        health = Health(["http://127.0.0.1:9/", f"{place}/{status}"])
        assert not health.silent()
        with pytest.raises(PipelineTrouble, match=f"answered {status} before the pipeline was"):
            health.check_free()


def test_each_instance_has_its_own(place: str) -> None:
    health = health_of(f"{place}/20{{instance}}", 3)
    assert health.look()
    assert health.seen == f"{place}/202 answered 202"
    assert not health_of(f"{place}/{{instance}}99", 6).look()


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "ftp://127.0.0.1/", "http:///up", "http://a:x/", "http://a/{work}"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(BadRule):
        health_of(url, 1)
