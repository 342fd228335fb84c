"""Errors for a faulty toxiproxy server; tests/integration uses a real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from onceproof.harness.links import toxiproxy as module
from onceproof.harness.links.toxiproxy import AppliedToxic, ProxySpec, ProxyTrouble, ToxiproxyServer

Answers = dict[tuple[str, str], tuple[int, Any]]
PROXY = {"name": "p", "enabled": True, "toxics": [{"name": "t"}]}
TOXIC = AppliedToxic(name="new", type="timeout", stream="upstream", attributes={"timeout": 0})


@pytest.fixture
def serve() -> Iterator[Callable[[Answers], ToxiproxyServer]]:
    """A server with fixed answers: (verb, path) → (status, body)."""
    started: list[ThreadingHTTPServer] = []

    def make(answers: Answers) -> ToxiproxyServer:
        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body = answers[self.command, self.path]
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started.append(server)
        return ToxiproxyServer("127.0.0.1", server.server_port)

    yield make
    for server in started:
        server.shutdown()
        server.server_close()


Serve = Callable[[Answers], ToxiproxyServer]


def test_set_enabled_detects_an_unchanged_proxy(serve: Serve) -> None:
    server = serve({("POST", "/proxies/p"): (200, PROXY), ("GET", "/proxies/p"): (200, PROXY)})
    server.set_enabled("p", True)
    with pytest.raises(ProxyTrouble, match="proxy p did not become disabled"):
        server.set_enabled("p", False)


def test_populate_detects_a_missing_proxy(serve: Serve) -> None:
    server = serve({("POST", "/populate"): (201, {}), ("GET", "/proxies"): (200, {"p": PROXY})})
    spec = ProxySpec(name="p", listen="127.0.0.1:1", upstream="127.0.0.1:2")
    server.populate([spec])
    with pytest.raises(ProxyTrouble, match=r"did not create q on 127\.0\.0\.1:3"):
        server.populate([spec, ProxySpec(name="q", listen="127.0.0.1:3", upstream="x:1")])


def test_set_upstream_detects_an_unchanged_proxy(serve: Serve) -> None:
    proxy = {**PROXY, "upstream": "127.0.0.1:1"}
    server = serve({("POST", "/proxies/p"): (200, proxy), ("GET", "/proxies/p"): (200, proxy)})
    server.set_upstream("p", "127.0.0.1:1")
    with pytest.raises(
        ProxyTrouble, match=r"p has upstream 127\.0\.0\.1:1, expected 127\.0\.0\.1:2"
    ):
        server.set_upstream("p", "127.0.0.1:2")


def test_add_toxic_detects_a_missing_toxic(serve: Serve) -> None:
    server = serve({("POST", "/proxies/p/toxics"): (200, {}), ("GET", "/proxies/p"): (200, PROXY)})
    with pytest.raises(ProxyTrouble, match="toxic new is not on proxy p after it was added"):
        server.add_toxic("p", TOXIC)


def test_remove_toxic_detects_a_remaining_toxic(serve: Serve) -> None:
    server = serve(
        {("DELETE", "/proxies/p/toxics/t"): (204, b""), ("GET", "/proxies/p"): (200, PROXY)}
    )
    with pytest.raises(ProxyTrouble, match="toxic t is still on proxy p after it was removed"):
        server.remove_toxic("p", "t")
    server.remove_toxic("p", "another")  # not on the proxy: nothing to remove


@pytest.mark.parametrize("status", [201, 204, 302, 400, 403, 404, 409, 500, 503])
def test_unexpected_status_is_reported(serve: Serve, status: int) -> None:
    server = serve({("POST", "/proxies/p"): (status, b"" if status == 204 else b"because")})
    with pytest.raises(ProxyTrouble) as error:
        server.set_enabled("p", False)
    assert f"toxiproxy at {server.address}: post /proxies/p" in str(error.value)
    if status not in {204, 400, 404, 409}:
        assert f"answered {status} (because), expected 200" in str(error.value)
    elif status != 204:
        assert "because" in str(error.value)


def test_requests_time_out_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(module, "SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = ToxiproxyServer("127.0.0.1", silent.getsockname()[1])
        with pytest.raises(ProxyTrouble, match=r"get /proxies failed: .*timed out"):
            server.disturbed()
        assert server.version() is None


@pytest.mark.parametrize("answer", [(500, b"no"), (200, b"")])
def test_version_is_none_for_an_invalid_answer(serve: Serve, answer: tuple[int, bytes]) -> None:
    assert serve({("GET", "/version"): answer}).version() is None


def test_reads_version(serve: Serve) -> None:
    assert serve({("GET", "/version"): (200, {"version": "2.12.0"})}).version() == "2.12.0"


def test_disturbed_lists_disabled_and_toxic_proxies(serve: Serve) -> None:
    fine = {"enabled": True, "toxics": []}
    proxies = {
        "fine": fine,
        "cut": fine | {"enabled": False},
        "toxic": fine | {"toxics": [{"name": "a"}, {"name": "b"}]},
    }
    server = serve({("GET", "/proxies"): (200, proxies)})
    assert server.disturbed() == {"cut": "disabled", "toxic": "toxics a, b"}


def test_servers_are_independent(serve: Serve) -> None:
    first = serve({("GET", "/version"): (200, {"version": "1"})})
    second = serve({("GET", "/version"): (200, {"version": "2"})})
    assert (first.version(), second.version(), first.version()) == ("1", "2", "1")
