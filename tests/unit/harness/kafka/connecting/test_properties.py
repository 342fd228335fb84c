"""Connection properties: their sources, and refusals that hide secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.kafka.connecting.properties import (
    NAMES,
    PREFIX,
    BadProperties,
    fitting,
    flat,
    from_environment,
    known,
    read,
    without_credentials,
)

HERE = Path()
SCRAM = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "trial",
    "sasl.password": "open-sesame",
}


@given(st.dictionaries(st.sampled_from(sorted(NAMES)), st.text(max_size=5)))
def test_every_property_has_one_environment_variable(properties: dict[str, str]) -> None:
    environment = {PREFIX + n.upper().replace(".", "_"): v for n, v in properties.items()}
    assert from_environment({**environment, "PATH": "/bin"}) == properties
    assert without_credentials({**environment, "PATH": "/bin"}) == {"PATH": "/bin"}


def test_unknown_environment_variable_is_refused() -> None:
    with pytest.raises(BadProperties, match="ONCEPROOF_KAFKA_GROUP_ID: unknown") as error:
        from_environment({"ONCEPROOF_KAFKA_GROUP_ID": "open-sesame"})
    assert "open-sesame" not in str(error.value)


def test_flat_accepts_nested_and_dotted_keys() -> None:
    nested = {"security": {"protocol": "SSL"}, "ssl": {"key": {"password": "x", "location": "k"}}}
    assert flat(nested) == {
        "security.protocol": "SSL",
        "ssl.key.password": "x",
        "ssl.key.location": "k",
    }
    assert flat({"sasl.username": "a"}) == {"sasl.username": "a"}


def test_file_has_one_property_per_line(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("# ours\n\nsasl.username = trial\nsasl.password=a=b#c \n")
    file.chmod(0o600)
    assert read(file) == {"sasl.username": "trial", "sasl.password": "a=b#c "}


def test_file_with_a_secret_must_be_private(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("sasl.password=open-sesame\n")
    file.chmod(0o640)
    with pytest.raises(BadProperties, match=f"chmod 600 {file}") as error:
        read(file)
    assert "open-sesame" not in str(error.value)
    file.write_text("sasl.username=trial\n")
    assert read(file) == {"sasl.username": "trial"}  # without a secret, others may read it


def test_malformed_line_is_refused_without_quoting_it(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("open-sesame\n")
    with pytest.raises(BadProperties, match="line 1") as error:
        read(file)
    assert "open-sesame" not in str(error.value)


def test_spellings_of_properties_are_normalised() -> None:
    properties = {
        **SCRAM,
        "security.protocol": "sasl_ssl",
        "sasl.mechanisms": SCRAM["sasl.mechanism"],
    }
    del properties["sasl.mechanism"]
    assert fitting(known(properties, folder=HERE)) == SCRAM
    assert fitting(known({}, folder=HERE)) == {}


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    found = fitting(
        known({"security.protocol": "SSL", "ssl.ca.location": "ca.pem"}, folder=tmp_path)
    )
    assert found["ssl.ca.location"] == str(tmp_path / "ca.pem")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"group.id": "g"}, "group.id: not a connection property"),
        ({"transactional.id": "t"}, "transactional.id: not a connection property"),
        ({"isolation.level": "read_uncommitted"}, "isolation.level: not a connection property"),
        ({"sasl.username": 7}, "sasl.username: expected a string"),
        ({"sasl.username": "a\nb"}, "sasl.username: expected one line"),
        ({"security.protocol": "TLS"}, "security.protocol: expected one of"),
        ({"security.protocol": "PLAINTEXT"}, "sasl.password.*not used with .* PLAINTEXT"),
        ({"security.protocol": "SSL"}, "sasl.password.*not used with .* SSL"),
        ({"sasl.mechanism": "GSSAPI"}, "sasl.mechanism: expected one of PLAIN"),
        ({"sasl.mechanism": "OAUTHBEARER"}, "OAUTHBEARER needs enable.sasl.oauthbearer"),
        ({"ssl.ca.location": "nowhere.pem"}, "ssl.ca.location: no such file"),
    ],
)
def test_unusable_property_is_refused_without_password(
    more: dict[str, object], message: str
) -> None:
    with pytest.raises(BadProperties, match=message) as error:
        fitting(known({**SCRAM, **more}, folder=HERE))
    assert SCRAM["sasl.password"] not in str(error.value)


def test_incomplete_credentials_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadProperties, match=r"SCRAM-SHA-512 needs sasl\.password"):
        fitting(known({n: v for n, v in SCRAM.items() if n != "sasl.password"}, folder=HERE))
    (tmp_path / "key.pem").touch()
    with pytest.raises(BadProperties, match="expected both, or neither"):
        fitting(known({"security.protocol": "SSL", "ssl.key.location": "key.pem"}, folder=tmp_path))
