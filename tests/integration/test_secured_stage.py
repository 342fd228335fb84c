"""Brokers that require credentials: who gets in with which, and what is said to who does not."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from onceproof.harness.kafka.connecting.connection import VARIABLE, Connection, connection
from onceproof.harness.kafka.connecting.refused import CredentialsRefused
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.stage.certificates import Certificate, new_authority, new_certificate
from onceproof.harness.stage.external import Cluster, ExternalStage
from onceproof.harness.stage.security import MECHANISM, USER, Security
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Stop
from tests.integration.staging import eventually

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SOON = 10.0
"""Seconds within which a refusal comes; a time-out of a client's is 60."""
WRONG = "no-such-word"


def get_in(bootstrap: str, properties: Mapping[str, str]) -> None:
    """Connect as our auditor does."""
    Connection(bootstrap, properties).open(SOON).close()


def refusal(bootstrap: str, properties: Mapping[str, str]) -> str:
    """What is said to somebody who is refused at once."""
    began = time.monotonic()
    with pytest.raises(CredentialsRefused) as error:
        get_in(bootstrap, properties)
    assert time.monotonic() - began < SOON
    said = str(error.value)
    assert bootstrap in said
    assert not any(properties.get(name, "…") in said for name in ("sasl.password",))
    return said


@contextlib.contextmanager
def one_broker(folder: Path, tools: StageTools, security: type[Security]) -> Iterator[Alone]:
    with alone(folder / "run", tools, brokers=1, secured=security) as up:
        yield up


@pytest.fixture(scope="module")
def scram(tools: StageTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    with one_broker(tmp_path_factory.mktemp("scram"), tools, Security) as up:
        yield up


def own(up: Alone) -> dict[str, str]:
    return dict(connection(up.stage.bootstrap(AUDITOR)).properties)


def test_clients_of_every_kind_get_in(scram: Alone) -> None:
    there = scram.stage.bootstrap(AUDITOR)
    create_topics(there, ["kinds"], partitions=1, brokers=1)
    listed = AdminClient(connection(scram.stage.bootstrap("producer")).librdkafka())
    assert "kinds" in listed.list_topics(timeout=SOON).topics
    from kafka import KafkaConsumer

    words = connection(there).in_python()
    consumer = KafkaConsumer(bootstrap_servers=there.split(","), **words)
    try:
        assert "kinds" in consumer.topics()
    finally:
        consumer.close()


def test_an_audit_gets_in_and_leaves_no_secret(scram: Alone, tmp_path: Path) -> None:
    there, right = scram.stage.bootstrap(AUDITOR), own(scram)
    create_topics(there, ["audited", "outcome"], partitions=1, brokers=1)
    producer = Producer(Connection(there, right).librdkafka())
    for n in range(20):
        for topic in ("audited", "outcome"):
            if (n, topic) != (7, "outcome"):
                producer.produce(topic, "{}", f"o{n}", timestamp=1_700_000_000_000 + n * 60_000)
    assert producer.flush(SOON) == 0
    file = tmp_path / "client.properties"
    file.touch(mode=0o600)

    def audit(properties: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        command = ("audit", "--bootstrap", there, "--kafka-properties", file.name)
        topics = ("--input", "audited", "--output", "outcome", "--identity", "key")
        return subprocess.run(
            [sys.executable, "-m", "onceproof", *command, *topics, "--settle", "60"],
            cwd=tmp_path,
            env={n: v for n, v in os.environ.items() if n != VARIABLE},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    done = audit(right)
    assert done.returncode == 1, done.stderr
    (repairs,) = tmp_path.glob("runs/*/repairs.jsonl")
    assert [json.loads(line)["record"] for line in repairs.read_text().splitlines()] == ["o7"]
    secret = right["sasl.password"]
    files = [p for p in (tmp_path / "runs").rglob("*") if p.is_file()]
    assert files
    assert not any(secret.encode() in p.read_bytes() for p in files)
    refused = audit(right | {"sasl.password": WRONG})
    assert refused.returncode == 3
    assert "Check sasl.username and sasl.password" in refused.stderr
    assert not any(word in done.stdout + done.stderr + refused.stderr for word in (secret, WRONG))


def test_a_gate_reads_what_is_encrypted(scram: Alone) -> None:
    link = Link("producer", "broker-1")
    gate = scram.stage.gate(link)
    try:
        producer = Producer(connection(scram.stage.bootstrap("producer")).librdkafka())
        assert "kinds" not in producer.list_topics("other", timeout=SOON).topics
        seen = gate.state()["request"]
        assert {"SaslHandshake", "SaslAuthenticate", "Metadata"} <= seen.keys()
        del producer
        eventually(lambda: gate.state()["connections"] == 0, "connections to end", gate.state)
        eventually(lambda: scram.stage.connected("producer") == 0, "those behind it to end")
    finally:
        scram.stage.ungate(link)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"sasl.password": WRONG}, "Check sasl.username and sasl.password"),
        ({"sasl.username": "stranger"}, "Check sasl.username and sasl.password"),
        ({"sasl.mechanism": "PLAIN"}, f"supports {MECHANISM}"),
    ],
)
def test_wrong_credentials_are_refused_at_once(
    scram: Alone, more: dict[str, str], words: str
) -> None:
    assert words in refusal(scram.stage.bootstrap(AUDITOR), own(scram) | more)


def test_a_broker_of_another_authority_is_not_trusted(scram: Alone, tmp_path: Path) -> None:
    other = {"ssl.ca.location": str(new_authority(tmp_path).certificate)}
    assert "ssl.ca.location" in refusal(scram.stage.bootstrap(AUDITOR), own(scram) | other)


def test_a_run_on_it_says_so_before_anything_is_made(scram: Alone) -> None:
    """As a cluster of the user's own; the sentence is that of the run."""
    cluster = Cluster(
        bootstrap=scram.stage.bootstrap(AUDITOR),
        database="",
        commands={},
        properties=own(scram) | {"sasl.password": WRONG},
    )
    mine = connection(cluster.bootstrap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONCEPROOF_CONNECTION", "")  # put back at the end
        stage = ExternalStage(cluster, marker="wrong", stop=Stop())
        began = time.monotonic()
        try:
            with pytest.raises(StageTrouble, match=r"rejects the .* credentials") as error:
                stage.start()
        finally:
            stage.stop()
        assert time.monotonic() - began < SOON
        assert WRONG not in str(error.value)
        assert not any(folder.exists() for folder in stage.scratch)
    assert connection(cluster.bootstrap) == mine


def test_a_removed_user_is_refused(scram: Alone) -> None:
    there = scram.stage.bootstrap(AUDITOR)
    leaver = own(scram) | {"sasl.username": "leaver", "sasl.password": "open-sesame"}
    admin = AdminClient(connection(there).librdkafka())

    def alter(what: UserScramCredentialUpsertion | UserScramCredentialDeletion) -> None:
        for future in admin.alter_user_scram_credentials([what]).values():
            future.result(SOON)

    how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    alter(UserScramCredentialUpsertion("leaver", how, leaver["sasl.password"].encode()))
    get_in(there, leaver)
    alter(UserScramCredentialDeletion("leaver", ScramMechanism.SCRAM_SHA_512))
    assert "expired or were removed" in refusal(there, leaver)


class Mutual(Security):
    """Brokers that know clients by their certificates."""

    protocol = "SSL"

    @property
    def properties(self) -> Mapping[str, str]:
        mine = self.client
        return {
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.authority.certificate),
            "ssl.certificate.location": str(mine.certificate),
            "ssl.key.location": str(mine.key),
        }

    @property
    def client(self) -> Certificate:
        """Of our own clients, made when it is asked for first."""
        made = Certificate(certificate=self.folder / "client.pem", key=self.folder / "client.key")
        if self.folder.exists() and not made.key.exists():
            new_certificate(self.folder, "client", self.authority)
        return made

    def broker_settings(self, listeners: Iterable[str]) -> dict[str, str]:
        return {
            **super().broker_settings(listeners),
            "ssl.client.auth": "required",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.certificate),
        }


def expired(folder: Path, authority: Certificate) -> Certificate:
    """A certificate that was valid until yesterday."""
    made = Certificate(certificate=folder / "expired.pem", key=folder / "expired.key")
    asked = folder / "expired.csr"
    for words in (
        f"req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=expired "
        f"-keyout {made.key} -out {asked}",
        f"x509 -req -in {asked} -CA {authority.certificate} -CAkey {authority.key} -days -1 "
        f"-out {made.certificate}",
    ):
        subprocess.run(["openssl", *words.split()], check=True, capture_output=True)
    return made


def test_certificates_of_clients(tools: StageTools, tmp_path: Path) -> None:
    """The right one, an expired one, one of another authority, none."""
    with one_broker(tmp_path, tools, Mutual) as up:
        there, right = up.stage.bootstrap(AUDITOR), own(up)
        get_in(there, right)
        create_topics(there, ["mutual"], partitions=1, brokers=1)  # librdkafka gets in too
        authority = Certificate(
            certificate=Path(right["ssl.ca.location"]),
            key=Path(right["ssl.ca.location"]).with_suffix(".key"),
        )
        (tmp_path / "other").mkdir()
        other = new_authority(tmp_path / "other")
        for wrong in (
            expired(tmp_path, authority),
            new_certificate(tmp_path, "stranger", other),
        ):
            said = refusal(
                there,
                right
                | {
                    "ssl.certificate.location": str(wrong.certificate),
                    "ssl.key.location": str(wrong.key),
                },
            )
            assert "Check ssl.certificate.location and ssl.key.location" in said
        without = {n: v for n, v in right.items() if not n.startswith(("ssl.cert", "ssl.key"))}
        assert "rejects the client certificate" in refusal(there, without)


class ByWord(Security):
    """Brokers that take a password as it is, or an unsecured token."""

    protocol = "SASL_PLAINTEXT"

    @property
    def properties(self) -> Mapping[str, str]:
        return {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": USER,
            "sasl.password": "open-sesame",
        }

    def broker_settings(self, listeners: Iterable[str]) -> dict[str, str]:
        place = "org.apache.kafka.common.security"
        plain = f'{place}.plain.PlainLoginModule required user_{USER}="open-sesame";'
        token = (
            f"{place}.oauthbearer.OAuthBearerLoginModule required "
            f'unsecuredLoginStringClaim_sub="{USER}";'
        )
        settings = {"sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER"}
        for name in listeners:
            before = f"listener.name.{name.lower()}"
            settings[f"{before}.plain.sasl.jaas.config"] = plain
            settings[f"{before}.oauthbearer.sasl.jaas.config"] = token
        return settings


def test_passwords_and_tokens(tools: StageTools, tmp_path: Path) -> None:
    with one_broker(tmp_path, tools, ByWord) as up:
        there, right = up.stage.bootstrap(AUDITOR), own(up)
        create_topics(there, ["plain"], partitions=1, brokers=1)
        said = refusal(there, right | {"sasl.password": WRONG})
        assert "Check sasl.username and sasl.password" in said
        token = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.config": f"principal={USER}",
            "enable.sasl.oauthbearer.unsecure.jwt": "true",
        }
        get_in(there, token)
        admin = AdminClient(Connection(there, token).librdkafka())
        assert "plain" in admin.list_topics(timeout=SOON).topics
        nobody = token | {"sasl.oauthbearer.config": "principal="}
        assert "Check the token" in refusal(there, nobody)
