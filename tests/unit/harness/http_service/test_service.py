"""What the HTTP service makes of requests: once carried out they stay, whatever becomes of it."""

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
    RuleThere,
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


def numbers(file: Path) -> list[tuple[int, str]]:
    return [(request.number, request.body) for request in read(file)]


def test_each_request_is_carried_out_in_its_order(file: Path) -> None:
    service = Service(HttpSettings(paths=("shipments",)), file)
    for body in ("a", "b", "a"):
        answer = post(service, body, key="k")
        assert answer is not None
        assert answer.status == OK
    assert numbers(file) == [(1, "a"), (2, "b"), (3, "a")]


def test_a_repeated_key_is_answered_as_at_first_and_not_carried_out_again(file: Path) -> None:
    service = Service(KEYED, file)
    first = post(service, "a", key="k")
    assert post(service, "b", key="l") != first
    again = Service(KEYED, file)
    for each in (service, again):
        assert post(each, "a", key="k") == first, "also after a restart"
    refused = post(again, "b", key="k")
    assert refused is not None
    assert refused.status == OTHER_REQUEST
    assert numbers(file) == [(1, "a"), (2, "b")]


def test_without_its_key_a_request_is_carried_out_each_time(file: Path) -> None:
    service = Service(KEYED, file)
    for _ in range(2):
        post(service, "a")
    assert numbers(file) == [(1, "a"), (2, "a")]


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
def test_only_its_paths_are_there(file: Path, method: str, path: str, status: int) -> None:
    answer = Service(KEYED, file).take(method, path, (), "")
    assert answer is not None
    assert answer.status == status
    assert len(read(file)) == (status == OK)


def test_what_was_not_complete_on_disk_was_never_carried_out(file: Path) -> None:
    post(Service(KEYED, file), "a", key="k")
    with file.open("a") as torn:
        torn.write('{"number": 2, "method"')
    assert numbers(file) == [(1, "a")]
    post(Service(KEYED, file), "b")
    assert numbers(file) == [(1, "a"), (2, "b")]


@given(
    body=st.text(),
    headers=st.lists(st.tuples(st.text("abcX-", min_size=1), st.text("az \x7fé"))),
)
def test_a_request_is_read_as_it_was_written(
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
def test_a_path_and_what_is_below_it(path: str, parent: str, rest: str | None) -> None:
    assert below(path, parent) == rest


class TestRules:
    @pytest.mark.parametrize("landed", [True, False])
    def test_a_connection_ends_in_place_of_an_answer(self, file: Path, landed: bool) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=landed, answer="none", times=1))
        assert post(service, "a", key="k") is None
        assert len(read(file)) == landed
        (met,) = service.met()
        assert str(met) == (
            f"POST /shipments, {'carried out as no. 1' if landed else 'not carried out'}"
        )
        assert post(service, "a", key="k") is not None, "only the first is met"
        assert numbers(file) == [(1, "a")]
        assert service.remove() == [met]
        assert service.met() == service.remove() == []

    def test_a_refusal_is_no_effect(self, file: Path) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=False, answer="unavailable"))
        for _ in range(2):
            answer = post(service, "a", key="k")
            assert answer is not None
            assert answer.status == UNAVAILABLE
        assert len(service.remove()) == 2
        assert numbers(file) == []

    def test_a_held_request_is_let_go_when_the_rule_is_removed(self, file: Path) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=True, hold=True))
        answers: list[object] = []
        client = threading.Thread(target=lambda: answers.append(post(service, "a", key="k")))
        client.start()
        wait_until(service.met, what="it to be met", seconds=10)
        assert numbers(file) == [(1, "a")], "it is carried out, and not answered"
        again = post(service, "a", key="k")
        assert again is not None, "one that is recognized is not met"
        assert answers == []
        service.remove()
        client.join(10)
        assert answers == [again]

    def test_two_faults_do_not_act_at_once(self, file: Path) -> None:
        service = Service(KEYED, file)
        service.put(Rule(carry_out=False, answer="unavailable"))
        with pytest.raises(RuleThere):
            service.put(Rule(carry_out=True, answer="none"))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"carry_out": False},
            {"carry_out": True, "answer": "unavailable"},
            {"carry_out": True, "answer": "no"},
        ],
    )
    def test_nothing_is_confirmed_that_was_not_done(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="answer"):
            Rule(**wrong)  # type: ignore[arg-type]
