"""Profiles: a compose file that overrides ours. Nothing is started here."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.stage.docker_compose import PROFILE, Compose, ensure_images
from onceproof.harness.tools.docker_engine import connect
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import silent


def test_profile_overrides_services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = tmp_path / "a profile.yml"
    profile.write_text(
        "services:\n"
        "  broker-2:\n"
        "    image: other/brokers:1\n"
        "    environment: {OTHER_ADDRESS: '${ONCEPROOF_ADDRESS}:${ONCEPROOF_PORTS}402'}\n"
    )
    monkeypatch.setenv(PROFILE, str(profile))
    engine = connect()
    variables = {"ONCEPROOF_ADDRESS": "127.77.0.1", "ONCEPROOF_PORTS": "23"}
    services = Compose(engine, variables).services()
    assert services["broker-2"]["image"] == "other/brokers:1"
    assert services["broker-2"]["environment"]["OTHER_ADDRESS"] == "127.77.0.1:23402"
    assert services["broker-2"]["environment"]["KAFKA_NODE_ID"] == "2"
    assert services["broker-1"]["image"] != "other/brokers:1"
    with pytest.raises(SetupError, match="image other/brokers:1 is missing and cannot be pulled"):
        ensure_images(engine, silent)


def test_rejects_invalid_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.yml").write_text("services: 7\n")
    monkeypatch.setenv(PROFILE, str(tmp_path / "bad.yml"))
    with pytest.raises(SetupError, match=r"bad\.yml cannot be used"):
        Compose(connect(), {}).services()
