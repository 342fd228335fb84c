"""Containers of Spring for Apache Kafka: names, settings and tasks."""

from __future__ import annotations

import re

import pytest

from onceproof.harness.spring.programs import SOURCES
from onceproof.harness.subjects.group.spring import Spring, SpringTask
from onceproof.harness.tools import jar_lock


@pytest.mark.parametrize(
    ("subject", "name", "words"),
    [
        (Spring(), "spring-kafka", "the records of a poll."),
        (Spring(listener="record"), "spring-kafka-by-record", "offsets of each record."),
        (Spring(fenced="goes-on"), "spring-kafka-goes-on", "Broken twin: its default goes on"),
        (Spring(attempts="ten"), "spring-kafka-ten-attempts", "skips a record after ten attempts"),
        (Spring(rewind=False), "spring-kafka-no-rewind", "continues without rewinding."),
    ],
)
def test_name_and_words_tell_what_is_left_out(subject: Spring, name: str, words: str) -> None:
    assert subject.name == name
    assert words in subject.says


def test_report_has_the_version_that_the_lock_pins() -> None:
    (about,) = Spring().configuration().values()
    locked = jar_lock.load("spring-kafka", about["version"])
    assert any(jar.artifact == "spring-kafka" for jar in locked.sums)
    assert about["stopContainerWhenFenced"] is True


def test_program_reads_fields_that_the_task_has() -> None:
    program = (SOURCES / "SpringMember.java").read_text()
    read = set(re.findall(r'task\.get\("(\w+)"\)', program))
    assert read <= SpringTask.__dataclass_fields__.keys()
