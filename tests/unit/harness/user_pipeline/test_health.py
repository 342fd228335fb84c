"""Health checks against a local HTTP server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.user_pipeline.health import Health, health_of
from onceproof.harness.user_pipeline.identity import BadRule


@pytest.fixture
def base_url() -> Iterator[str]:
    """URL of a server that answers `/503` with 503; `/nothing` gets no answer."""

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
def test_healthy_only_on_success_status(base_url: str, status: int) -> None:
    health = Health([f"{base_url}/{status}"])
    assert health.look() is (status // 100 == 2)
    assert health.seen == f"{base_url}/{status} answered {status}"


def test_unhealthy_if_one_url_fails(base_url: str) -> None:
    assert Health([f"{base_url}/200", f"{base_url}/204"]).look()
    assert not Health([f"{base_url}/200", f"{base_url}/503"]).look()


def test_unhealthy_without_an_answer(base_url: str) -> None:
    silent = Health([f"{base_url}/nothing"])
    assert not silent.look()
    assert "did not answer" in silent.seen
    refused = Health(["http://127.0.0.1:9/"])
    assert not refused.look()
    assert refused.seen.startswith("http://127.0.0.1:9/ did not answer: ")
    refused.check_free()


def test_check_free_rejects_a_server_that_already_answers(base_url: str) -> None:
    for status in (200, 503):
        health = Health(["http://127.0.0.1:9/", f"{base_url}/{status}"])
        assert not health.silent()
        with pytest.raises(PipelineTrouble, match=f"answered {status} before the pipeline was"):
            health.check_free()


def test_url_is_expanded_for_each_instance(base_url: str) -> None:
    health = health_of(f"{base_url}/20{{instance}}", 3)
    assert health.look()
    assert health.seen == f"{base_url}/202 answered 202"
    assert not health_of(f"{base_url}/{{instance}}99", 6).look()


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "ftp://127.0.0.1/", "http:///up", "http://a:x/", "http://a/{work}"]
)
def test_rejects_invalid_url(url: str) -> None:
    with pytest.raises(BadRule):
        health_of(url, 1)
