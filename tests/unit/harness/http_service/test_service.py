"""The HTTP service: which requests it carries out, logs and answers."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.http_service.log import Request, read
from onceproof.harness.http_service.rules import Rule
from onceproof.harness.http_service.service import (
    NOT_ALLOWED,
    NOT_FOUND,
    OK,
    OTHER_REQUEST,
    UNAVAILABLE,
    RuleAlreadyActive,
    Service,
)
from onceproof.harness.http_service.settings import HttpSettings, below
from onceproof.harness.wait import wait_until

KEYED = HttpSettings(paths=("shipments", "v1/letters"), key="Idempotency-Key")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "work" / "requests.jsonl"


def post(service: Service, body: str = "{}", *, key: str | None = None, path: str = "/shipments"):
    headers = () if key is None else (("idempotency-key", key),)
    return service.take("POST", path, headers, body)


def logged(file: Path) -> list[tuple[int, str]]:
    return [(request.number, request.body) for request in read(file)]


def test_requests_are_carried_out_in_order(file: Path) -> None:
    service = Service(HttpSettings(paths=("shipments",)), file)
    for body in ("a", "b", "a"):
        answer = post(service, body, key="k")
        assert answer is not None
        assert answer.status == OK
    assert logged(file) == [(1, "a"), (2, "b"), (3, "a")]


def test_repeated_key_gets_the_first_answer_without_a_second_effect(file: Path) -> None:
    service = Service(KEYED, file)
    first = post(service, "a", key="k")
    assert post(service, "b", key="l") != first
    restarted = Service(KEYED, file)
    for each in (service, restarted):
        assert post(each, "a", key="k") == first, "also after a restart"
    refused = post(restarted, "b", key="k")
    assert refused is not None
    assert refused.status == OTHER_REQUEST
    assert logged(file) == [(1, "a"), (2, "b")]


def test_request_without_key_is_carried_out_each_time(file: Path) -> None:
    service = Service(KEYED, file)
    for _ in range(2):
        post(service, "a")
    assert logged(file) == [(1, "a"), (2, "a")]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/shipments", NOT_ALLOWED),
        ("POST", "/", NOT_FOUND),
        ("POST", "/shipments-too", NOT_FOUND),
        ("PUT", "/v1", NOT_FOUND),
        ("PUT", "/v1/letters/7", OK),
        ("DELETE", "/shipments/", OK),
    ],
)
def test_status_depends_on_method_and_path(file: Path, method: str, path: str, status: int) -> None:
    answer = Service(KEYED, file).take(method, path, (), "")
    assert answer is not None
    assert answer.status == status
    assert len(read(file)) == (status == OK)


def test_torn_log_line_is_dropped(file: Path) -> None:
    post(Service(KEYED, file), "a", key="k")
    with file.open("a") as torn:
        torn.write('{"number": 2, "method"')
    assert logged(file) == [(1, "a")]
    post(Service(KEYED, file), "b")
    assert logged(file) == [(1, "a"), (2, "b")]


@given(
    body=st.text(),
    headers=st.lists(st.tuples(st.text("abcX-", min_size=1), st.text("az \x7fé"))),
)
def test_logged_request_round_trips(
    tmp_path_factory: pytest.TempPathFactory, body: str, headers: list[tuple[str, str]]
) -> None:
    file = tmp_path_factory.mktemp("log") / "requests.jsonl"
    service = Service(HttpSettings(paths=("a",)), file)
    for _ in range(2):
        service.take("POST", "/a/é", tuple(headers), body)
    first, second = read(file)
    assert isinstance(first, Request)
    assert (first.number, second.number, first.at <= second.at) == (1, 2, True)
    assert (first.path, first.headers, first.body) == ("/a/é", tuple(headers), body)


@pytest.mark.parametrize(
    ("path", "parent", "rest"),
    [
        ("/a", "a", ""),
        ("/a/", "a", ""),
        ("/a/b/c", "a", "b/c"),
        ("/ab", "a", None),
        ("/", "a", None),
        ("/v1/a/x", "v1/a", "x"),
    ],
)
def test_below_returns_the_rest_of_the_path(path: str, parent: str, rest: str | None) -> None:
    assert below(path, parent) == rest


class TestRules:
    @pytest.mark.parametrize("carried_out", [True, False])
    def test_connection_is_closed_without_an_answer(self, file: Path, carried_out: bool) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=carried_out, answer="none", times=1))
        assert post(service, "a", key="k") is None
        assert len(read(file)) == carried_out
        (met,) = service.met()
        assert str(met) == (
            f"POST /shipments, {'carried out as no. 1' if carried_out else 'not carried out'}"
        )
        assert post(service, "a", key="k") is not None, "only the first is met"
        assert logged(file) == [(1, "a")]
        assert service.remove() == [met]
        assert service.met() == service.remove() == []

    def test_refused_requests_have_no_effect(self, file: Path) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=False, answer="unavailable"))
        for _ in range(2):
            answer = post(service, "a", key="k")
            assert answer is not None
            assert answer.status == UNAVAILABLE
        assert len(service.remove()) == 2
        assert logged(file) == []

    def test_held_request_is_answered_when_the_rule_is_removed(self, file: Path) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=True, hold=True))
        answers: list[object] = []
        client = threading.Thread(target=lambda: answers.append(post(service, "a", key="k")))
        client.start()
        wait_until(service.met, what="it to be met", seconds=10)
        assert logged(file) == [(1, "a")], "it is carried out, and not answered"
        again = post(service, "a", key="k")
        assert again is not None, "one that is recognized is not met"
        assert answers == []
        service.remove()
        client.join(10)
        assert answers == [again]

    def test_second_rule_is_refused(self, file: Path) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=False, answer="unavailable"))
        with pytest.raises(RuleAlreadyActive):
            service.put(Rule(carry_out=True, answer="none"))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"carry_out": False},
            {"carry_out": True, "answer": "unavailable"},
            {"carry_out": True, "answer": "no"},
        ],
    )
    def test_contradictory_rule_is_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="answer"):
            Rule(**wrong)  # type: ignore[arg-type]
