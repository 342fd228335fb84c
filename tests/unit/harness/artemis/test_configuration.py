"""The queue broker's configuration: what a history needs of it, and what a claim depends on."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from onceproof.harness.artemis.configuration import QueueSettings, audited, broker_xml, consumed

CORE = "{urn:activemq:core}"


def made(**settings: object) -> Xml.Element:
    text = broker_xml(
        QueueSettings(**settings),  # type: ignore[arg-type]
        folder=Path("/a folder/<b>"),
        listen={"producer": "127.1.0.7:1", "auditor": "127.1.0.7:2"},
        addresses=["payments", "with-fees"],
        unconsumed=["shipments"],
    )
    core = Xml.fromstring(text).find(f"{CORE}core")
    assert core is not None
    return core


def test_an_address_has_a_queue_to_be_consumed_and_one_that_is_not() -> None:
    found = {
        address.get("name"): [queue.get("name") for queue in address.iter(f"{CORE}queue")]
        for address in made().iter(f"{CORE}address")
        # A message that is sent to a topic goes to every queue of this kind, or to none.
        if address.find(f"{CORE}multicast") is not None
    }
    assert found == {
        "payments": ["payments", "payments.audit"],
        "with-fees": ["with-fees", "with-fees.audit"],
    }
    assert consumed("payments") == "payments::payments"
    assert audited("payments") == "payments.audit"


def test_one_that_nobody_consumes_is_a_queue_of_its_name() -> None:
    (found,) = (a for a in made().iter(f"{CORE}address") if a.get("name") == "shipments")
    (kind,) = found
    assert kind.tag == f"{CORE}anycast"
    assert [queue.get("name") for queue in kind] == ["shipments"]


def test_each_audience_has_a_way_of_its_own() -> None:
    acceptors = {a.get("name"): a.text or "" for a in made().iter(f"{CORE}acceptor")}
    assert {name: text.partition("?")[0] for name, text in acceptors.items()} == {
        "producer": "tcp://127.1.0.7:1",
        "auditor": "tcp://127.1.0.7:2",
    }
    options = {text.partition("?")[2] for text in acceptors.values()}
    assert len(options) == 1
    assert {"protocols=CORE,AMQP", "amqpDuplicateDetection=true"} <= set(options.pop().split(";"))


def test_all_that_it_keeps_is_in_its_folder() -> None:
    folders = [part.text or "" for part in made() if part.tag.endswith("-directory")]
    assert len(folders) == 4
    assert all(folder.startswith("/a folder/<b>/") for folder in folders)


@pytest.mark.parametrize(
    ("settings", "cache", "kept"),
    [({}, "20000", "true"), ({"id_cache_size": 10, "persist_id_cache": False}, "10", "false")],
)
def test_what_a_claim_depends_on(settings: dict[str, object], cache: str, kept: str) -> None:
    core = made(**settings)
    assert core.findtext(f"{CORE}id-cache-size") == cache
    assert core.findtext(f"{CORE}persist-id-cache") == kept


def test_nothing_is_given_up_that_was_delivered_often() -> None:
    (setting,) = made().iter(f"{CORE}address-setting")
    assert setting.get("match") == "#"
    assert setting.findtext(f"{CORE}max-delivery-attempts") == "-1"
