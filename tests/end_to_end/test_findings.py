"""Minimal reproductions of findings, to notice when a client is fixed.

Programs and commands are taken from the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.tools.jars_for import kafka_jars
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import wait_until
from onceproof.lab_client import ask
from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import onceproof
from tests.end_to_end.test_lab import Up, up
from tests.unit.docs.pages import blocks_of, text_of, typed

pytestmark = MINUTES
ABORTED_OFFSETS = "docs/findings/java-positions-of-an-abort.md"

PROGRAM = """\
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.serialization.*;

class Small {
    public static void main(String[] there) throws Exception {
        var settings = new Properties();
        settings.put("bootstrap.servers", there[0]);
        settings.put("transactional.id", "t");
        settings.put("group.id", "g");
        var group = new ConsumerGroupMetadata("g");
        var consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
%s
        Runtime.getRuntime().halt(0);
    }
}
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Up]:
    with up("findings", tmp_path, of=("--bare",)) as lab:
        yield lab


def test_abandoned_java_transaction_leaves_its_offsets(lab: Up, tmp_path: Path) -> None:
    page = list(blocks_of(ABORTED_OFFSETS, text_of(ABORTED_OFFSETS)))
    (program,) = (block for block in page if block.language == "java")
    (console,) = (block for block in page if block.language == "console")
    *hold_commands, heal_command = (shlex.split(line)[1:] for line in typed(console))
    source, output = tmp_path / "Small.java", tmp_path / "said"
    source.write_text(PROGRAM % program.text)
    bootstrap = ask(lab.place, "GET", "/")["bootstrap"]["pipeline"]
    jars = kafka_jars(ensure())
    with output.open("w") as out:
        process = subprocess.Popen(
            ["java", "-cp", f"{jars}/*", str(source), bootstrap],
            stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_until(lambda: "hold all answers" in output.read_text(), what="it to begin", seconds=60)
        for command in hold_commands:
            assert onceproof(*command, "--lab", lab.name).code == 0
        assert process.stdin is not None
        os.write(process.stdin.fileno(), b"\n")
        wait_until(
            lambda: "let them go" in output.read_text(),
            what="it to give up",
            seconds=20,
            seen=output.read_text,
        )
        assert onceproof(*heal_command, "--lab", lab.name).code == 0
        assert process.wait(60) == 0
        assert onceproof("end", "--lab", lab.name).code == 0
        lab.process.popen.wait(60)
    finally:
        process.kill()
        process.wait()
    positions = dict(re.findall(r"orders-(\d)=OffsetAndMetadata\{offset=(\d+)", output.read_text()))
    assert positions == {"0": "6", "1": "7"}, "it is mended: say so on the page"
