"""Brokers that require credentials, and the messages of refused connections."""

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
from onceproof.harness.stage.cluster_file import Cluster
from onceproof.harness.stage.external import ExternalStage
from onceproof.harness.stage.security import MECHANISM, USER, Security
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Stop
from tests.integration.staging import eventually

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

REFUSAL_SECONDS = 10.0
"""Seconds within which a refusal arrives; the timeout of a client is 60."""
WRONG_PASSWORD = "no-such-word"


def connect(bootstrap: str, properties: Mapping[str, str]) -> None:
    """Connect as the auditor does."""
    Connection(bootstrap, properties).open(REFUSAL_SECONDS).close()


def connect_refused(bootstrap: str, properties: Mapping[str, str]) -> str:
    """Assert that a connection is refused at once; return the message, checked for secrets."""
    began = time.monotonic()
    with pytest.raises(CredentialsRefused) as error:
        connect(bootstrap, properties)
    assert time.monotonic() - began < REFUSAL_SECONDS
    message = str(error.value)
    assert bootstrap in message
    assert not any(properties.get(name, "…") in message for name in ("sasl.password",))
    return message


@contextlib.contextmanager
def one_broker(folder: Path, tools: StageTools, security: type[Security]) -> Iterator[Alone]:
    with alone(folder / "run", tools, brokers=1, secured=security) as up:
        yield up


@pytest.fixture(scope="module")
def scram(tools: StageTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    with one_broker(tmp_path_factory.mktemp("scram"), tools, Security) as up:
        yield up


def credentials(up: Alone) -> dict[str, str]:
    return dict(connection(up.stage.bootstrap(AUDITOR)).properties)


def test_librdkafka_and_kafka_python_connect(scram: Alone) -> None:
    bootstrap = scram.stage.bootstrap(AUDITOR)
    create_topics(bootstrap, ["kinds"], partitions=1, brokers=1)
    listed = AdminClient(connection(scram.stage.bootstrap("producer")).librdkafka())
    assert "kinds" in listed.list_topics(timeout=REFUSAL_SECONDS).topics
    from kafka import KafkaConsumer

    settings = connection(bootstrap).in_python()
    consumer = KafkaConsumer(bootstrap_servers=bootstrap.split(","), **settings)
    try:
        assert "kinds" in consumer.topics()
    finally:
        consumer.close()


def test_audit_connects_and_leaks_no_secret(scram: Alone, tmp_path: Path) -> None:
    bootstrap, valid = scram.stage.bootstrap(AUDITOR), credentials(scram)
    create_topics(bootstrap, ["audited", "outcome"], partitions=1, brokers=1)
    producer = Producer(Connection(bootstrap, valid).librdkafka())
    for n in range(20):
        for topic in ("audited", "outcome"):
            if (n, topic) != (7, "outcome"):
                producer.produce(topic, "{}", f"o{n}", timestamp=1_700_000_000_000 + n * 60_000)
    assert producer.flush(REFUSAL_SECONDS) == 0
    file = tmp_path / "client.properties"
    file.touch(mode=0o600)

    def audit(properties: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        command = ("audit", "--bootstrap", bootstrap, "--kafka-properties", file.name)
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

    done = audit(valid)
    assert done.returncode == 1, done.stderr
    (repairs,) = tmp_path.glob("runs/*/repairs.jsonl")
    assert [json.loads(line)["record"] for line in repairs.read_text().splitlines()] == ["o7"]
    secret = valid["sasl.password"]
    files = [p for p in (tmp_path / "runs").rglob("*") if p.is_file()]
    assert files
    assert not any(secret.encode() in p.read_bytes() for p in files)
    refused = audit(valid | {"sasl.password": WRONG_PASSWORD})
    assert refused.returncode == 3
    assert "Check sasl.username and sasl.password" in refused.stderr
    assert not any(
        word in done.stdout + done.stderr + refused.stderr for word in (secret, WRONG_PASSWORD)
    )


def test_gate_reads_encrypted_connections(scram: Alone) -> None:
    link = Link("producer", "broker-1")
    gate = scram.stage.gate(link)
    try:
        producer = Producer(connection(scram.stage.bootstrap("producer")).librdkafka())
        assert "kinds" not in producer.list_topics("other", timeout=REFUSAL_SECONDS).topics
        seen = gate.state()["request"]
        assert {"SaslHandshake", "SaslAuthenticate", "Metadata"} <= seen.keys()
        del producer
        eventually(lambda: gate.state()["connections"] == 0, "connections to end", gate.state)
        eventually(lambda: scram.stage.connected("producer") == 0, "those behind it to end")
    finally:
        scram.stage.ungate(link)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"sasl.password": WRONG_PASSWORD}, "Check sasl.username and sasl.password"),
        ({"sasl.username": "stranger"}, "Check sasl.username and sasl.password"),
        ({"sasl.mechanism": "PLAIN"}, f"supports {MECHANISM}"),
    ],
)
def test_wrong_credentials_are_refused_at_once(
    scram: Alone, more: dict[str, str], message: str
) -> None:
    assert message in connect_refused(scram.stage.bootstrap(AUDITOR), credentials(scram) | more)


def test_broker_of_another_authority_is_not_trusted(scram: Alone, tmp_path: Path) -> None:
    other = {"ssl.ca.location": str(new_authority(tmp_path).certificate)}
    assert "ssl.ca.location" in connect_refused(
        scram.stage.bootstrap(AUDITOR), credentials(scram) | other
    )


def test_external_stage_fails_at_once_with_wrong_credentials(scram: Alone, tmp_path: Path) -> None:
    cluster = Cluster(
        bootstrap=scram.stage.bootstrap(AUDITOR),
        database="",
        commands={},
        properties=credentials(scram) | {"sasl.password": WRONG_PASSWORD},
    )
    connection_before = connection(cluster.bootstrap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONCEPROOF_CONNECTION", "")  # restored at the end
        stage = ExternalStage(cluster, marker="wrong", stop=Stop(), logs=tmp_path)
        began = time.monotonic()
        try:
            with pytest.raises(StageTrouble, match=r"rejects the .* credentials") as error:
                stage.start()
        finally:
            stage.stop()
        assert time.monotonic() - began < REFUSAL_SECONDS
        assert WRONG_PASSWORD not in str(error.value)
        assert not any(folder.exists() for folder in stage.scratch)
    assert connection(cluster.bootstrap) == connection_before


def test_removed_user_is_refused(scram: Alone) -> None:
    bootstrap = scram.stage.bootstrap(AUDITOR)
    leaver = credentials(scram) | {"sasl.username": "leaver", "sasl.password": "open-sesame"}
    admin = AdminClient(connection(bootstrap).librdkafka())

    def alter(what: UserScramCredentialUpsertion | UserScramCredentialDeletion) -> None:
        for future in admin.alter_user_scram_credentials([what]).values():
            future.result(REFUSAL_SECONDS)

    how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    alter(UserScramCredentialUpsertion("leaver", how, leaver["sasl.password"].encode()))
    connect(bootstrap, leaver)
    alter(UserScramCredentialDeletion("leaver", ScramMechanism.SCRAM_SHA_512))
    assert "expired or were removed" in connect_refused(bootstrap, leaver)


class MutualTls(Security):
    """Brokers that authenticate clients by certificate."""

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
        """The harness's client certificate, created on first use."""
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
    request = folder / "expired.csr"
    for arguments in (
        f"req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=expired "
        f"-keyout {made.key} -out {request}",
        f"x509 -req -in {request} -CA {authority.certificate} -CAkey {authority.key} -days -1 "
        f"-out {made.certificate}",
    ):
        subprocess.run(["openssl", *arguments.split()], check=True, capture_output=True)
    return made


def test_requires_valid_client_certificate(tools: StageTools, tmp_path: Path) -> None:
    with one_broker(tmp_path, tools, MutualTls) as up:
        bootstrap, valid = up.stage.bootstrap(AUDITOR), credentials(up)
        connect(bootstrap, valid)
        create_topics(bootstrap, ["mutual"], partitions=1, brokers=1)  # librdkafka connects as well
        authority = Certificate(
            certificate=Path(valid["ssl.ca.location"]),
            key=Path(valid["ssl.ca.location"]).with_suffix(".key"),
        )
        (tmp_path / "other").mkdir()
        other = new_authority(tmp_path / "other")
        for wrong in (
            expired(tmp_path, authority),
            new_certificate(tmp_path, "stranger", other),
        ):
            message = connect_refused(
                bootstrap,
                valid
                | {
                    "ssl.certificate.location": str(wrong.certificate),
                    "ssl.key.location": str(wrong.key),
                },
            )
            assert "Check ssl.certificate.location and ssl.key.location" in message
        without = {n: v for n, v in valid.items() if not n.startswith(("ssl.cert", "ssl.key"))}
        assert "rejects the client certificate" in connect_refused(bootstrap, without)


class PlainAndToken(Security):
    """Brokers that accept a password (PLAIN) or an unsecured token (OAUTHBEARER)."""

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


def test_accepts_password_or_token_and_refuses_wrong_ones(
    tools: StageTools, tmp_path: Path
) -> None:
    with one_broker(tmp_path, tools, PlainAndToken) as up:
        bootstrap, valid = up.stage.bootstrap(AUDITOR), credentials(up)
        create_topics(bootstrap, ["plain"], partitions=1, brokers=1)
        message = connect_refused(bootstrap, valid | {"sasl.password": WRONG_PASSWORD})
        assert "Check sasl.username and sasl.password" in message
        token = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.config": f"principal={USER}",
            "enable.sasl.oauthbearer.unsecure.jwt": "true",
        }
        connect(bootstrap, token)
        admin = AdminClient(Connection(bootstrap, token).librdkafka())
        assert "plain" in admin.list_topics(timeout=REFUSAL_SECONDS).topics
        nobody = token | {"sasl.oauthbearer.config": "principal="}
        assert "Check the token" in connect_refused(bootstrap, nobody)
