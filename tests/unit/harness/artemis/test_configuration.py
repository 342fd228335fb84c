"""The `broker.xml` of the queue broker."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from onceproof.harness.artemis.configuration import Artemis, broker_xml

CORE = "{urn:activemq:core}"


def core_element(**settings: object) -> Xml.Element:
    text = broker_xml(
        Artemis(**settings),  # type: ignore[arg-type]
        folder=Path("/a folder/<b>"),
        listen={"producer": "127.1.0.7:1", "auditor": "127.1.0.7:2"},
        addresses=["payments", "with-fees"],
        unconsumed=["shipments"],
        plain=["bare"],
    )
    core = Xml.fromstring(text).find(f"{CORE}core")
    assert core is not None
    return core


def test_address_has_a_consumed_and_an_audited_queue() -> None:
    found = {
        address.get("name"): [queue.get("name") for queue in address.iter(f"{CORE}queue")]
        for address in core_element().iter(f"{CORE}address")
        # Multicast queues all get a message of the address, or none does.
        if address.find(f"{CORE}multicast") is not None
    }
    assert found == {
        "payments": ["payments", "payments.audit"],
        "with-fees": ["with-fees", "with-fees.audit"],
    }
    assert Artemis().source("payments") == "payments::payments"


def test_unconsumed_address_has_one_anycast_queue() -> None:
    (found,) = (a for a in core_element().iter(f"{CORE}address") if a.get("name") == "shipments")
    (kind,) = found
    assert kind.tag == f"{CORE}anycast"
    assert [queue.get("name") for queue in kind] == ["shipments"]


def test_plain_queue_can_be_consumed_and_is_not_audited() -> None:
    (found,) = (a for a in core_element().iter(f"{CORE}address") if a.get("name") == "bare")
    ((queue,),) = found
    assert queue.attrib == {"name": "bare"}


def test_each_audience_has_a_separate_acceptor() -> None:
    acceptors = {a.get("name"): a.text or "" for a in core_element().iter(f"{CORE}acceptor")}
    assert {name: text.partition("?")[0] for name, text in acceptors.items()} == {
        "producer": "tcp://127.1.0.7:1",
        "auditor": "tcp://127.1.0.7:2",
    }
    options = {text.partition("?")[2] for text in acceptors.values()}
    assert len(options) == 1
    assert {"protocols=CORE,AMQP", "amqpDuplicateDetection=true"} <= set(options.pop().split(";"))


def test_all_directories_are_inside_the_folder() -> None:
    folders = [part.text or "" for part in core_element() if part.tag.endswith("-directory")]
    assert len(folders) == 4
    assert all(folder.startswith("/a folder/<b>/") for folder in folders)


@pytest.mark.parametrize(
    ("settings", "size", "persisted"),
    [({}, "20000", "true"), ({"id_cache_size": 10, "persist_id_cache": False}, "10", "false")],
)
def test_duplicate_id_cache_settings_are_written(
    settings: dict[str, object], size: str, persisted: str
) -> None:
    core = core_element(**settings)
    assert core.findtext(f"{CORE}id-cache-size") == size
    assert core.findtext(f"{CORE}persist-id-cache") == persisted


def test_delivery_attempts_are_unlimited() -> None:
    (setting,) = core_element().iter(f"{CORE}address-setting")
    assert setting.get("match") == "#"
    assert setting.findtext(f"{CORE}max-delivery-attempts") == "-1"
