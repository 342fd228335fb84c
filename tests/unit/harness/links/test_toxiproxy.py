"""What is said of a toxiproxy server that lies, fails or says nothing; a real one is in
tests/integration.
"""

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


def test_a_proxy_that_stays_enabled(serve: Serve) -> None:
    server = serve({("POST", "/proxies/p"): (200, PROXY), ("GET", "/proxies/p"): (200, PROXY)})
    server.set_enabled("p", True)
    with pytest.raises(ProxyTrouble, match="proxy p did not become disabled"):
        server.set_enabled("p", False)


def test_a_proxy_that_was_not_created(serve: Serve) -> None:
    server = serve({("POST", "/populate"): (201, {}), ("GET", "/proxies"): (200, {"p": PROXY})})
    spec = ProxySpec(name="p", listen="127.0.0.1:1", upstream="127.0.0.1:2")
    server.populate([spec])
    with pytest.raises(ProxyTrouble, match=r"did not create q on 127\.0\.0\.1:3"):
        server.populate([spec, ProxySpec(name="q", listen="127.0.0.1:3", upstream="x:1")])


def test_a_proxy_that_goes_on_leading_to_the_same(serve: Serve) -> None:
    leads = {**PROXY, "upstream": "127.0.0.1:1"}
    server = serve({("POST", "/proxies/p"): (200, leads), ("GET", "/proxies/p"): (200, leads)})
    server.set_upstream("p", "127.0.0.1:1")
    with pytest.raises(
        ProxyTrouble, match=r"p has upstream 127\.0\.0\.1:1, expected 127\.0\.0\.1:2"
    ):
        server.set_upstream("p", "127.0.0.1:2")


def test_a_toxic_that_is_not_there_after_it_was_added(serve: Serve) -> None:
    server = serve({("POST", "/proxies/p/toxics"): (200, {}), ("GET", "/proxies/p"): (200, PROXY)})
    with pytest.raises(ProxyTrouble, match="toxic new is not on proxy p after it was added"):
        server.add_toxic("p", TOXIC)


def test_a_toxic_that_stays(serve: Serve) -> None:
    server = serve(
        {("DELETE", "/proxies/p/toxics/t"): (204, b""), ("GET", "/proxies/p"): (200, PROXY)}
    )
    with pytest.raises(ProxyTrouble, match="toxic t is still on proxy p after it was removed"):
        server.remove_toxic("p", "t")
    server.remove_toxic("p", "another")  # gone already: nothing is asked


@pytest.mark.parametrize("status", [201, 204, 302, 400, 403, 404, 409, 500, 503])
def test_any_other_answer_is_trouble(serve: Serve, status: int) -> None:
    server = serve({("POST", "/proxies/p"): (status, b"" if status == 204 else b"because")})
    with pytest.raises(ProxyTrouble) as error:
        server.set_enabled("p", False)
    assert f"toxiproxy at {server.address}: post /proxies/p" in str(error.value)
    if status not in {204, 400, 404, 409}:
        assert f"answered {status} (because), expected 200" in str(error.value)
    elif status != 204:
        assert "because" in str(error.value)


def test_silence_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(module, "SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        server = ToxiproxyServer("127.0.0.1", mute.getsockname()[1])
        with pytest.raises(ProxyTrouble, match=r"get /proxies failed: .*timed out"):
            server.disturbed()
        assert server.version() is None


@pytest.mark.parametrize("answer", [(500, b"no"), (200, b"")])
def test_no_version(serve: Serve, answer: tuple[int, bytes]) -> None:
    assert serve({("GET", "/version"): answer}).version() is None


def test_the_version(serve: Serve) -> None:
    assert serve({("GET", "/version"): (200, {"version": "2.12.0"})}).version() == "2.12.0"


def test_what_is_disturbed(serve: Serve) -> None:
    fine = {"enabled": True, "toxics": []}
    proxies = {
        "fine": fine,
        "cut": fine | {"enabled": False},
        "toxic": fine | {"toxics": [{"name": "a"}, {"name": "b"}]},
    }
    server = serve({("GET", "/proxies"): (200, proxies)})
    assert server.disturbed() == {"cut": "disabled", "toxic": "toxics a, b"}


def test_two_servers_do_not_mix(serve: Serve) -> None:
    one = serve({("GET", "/version"): (200, {"version": "1"})})
    two = serve({("GET", "/version"): (200, {"version": "2"})})
    assert (one.version(), two.version(), one.version()) == ("1", "2", "1")
