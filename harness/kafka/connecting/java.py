"""Translate librdkafka properties to those of Kafka's Java client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from onceproof.harness.kafka.connecting.properties import is_authenticated

_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}
_SECURITY: Final = "org.apache.kafka.common.security"
_SHARED: Final = (
    "security.protocol",
    "sasl.mechanism",
    "ssl.key.password",
    "sasl.oauthbearer.token.endpoint.url",
)


def java_properties(properties: Mapping[str, str], *, keystore: Path) -> dict[str, str]:
    """Return Java properties; `keystore` has the client's key and certificate, if there is one."""
    java = {name: properties[name] for name in _SHARED if name in properties}
    if "ssl.ca.location" in properties:
        java |= {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": properties["ssl.ca.location"],
        }
    if "ssl.key.location" in properties:
        java |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(keystore)}
    if properties.get("ssl.endpoint.identification.algorithm") == "none":
        java["ssl.endpoint.identification.algorithm"] = ""
    if is_authenticated(properties):
        java |= _login_settings(properties)
    return java


def _login_settings(properties: Mapping[str, str]) -> dict[str, str]:
    if properties.get("sasl.oauthbearer.method") == "oidc":
        options = {
            "clientId": properties["sasl.oauthbearer.client.id"],
            "clientSecret": properties["sasl.oauthbearer.client.secret"],
        }
        if scope := properties.get("sasl.oauthbearer.scope"):
            options["scope"] = scope
        handler = {
            "sasl.login.callback.handler.class": f"{_SECURITY}.oauthbearer."
            "OAuthBearerLoginCallbackHandler"
        }
        return {"sasl.jaas.config": _jaas(properties, options), **handler}
    if properties["sasl.mechanism"] == "OAUTHBEARER":
        options = {"unsecuredLoginStringClaim_sub": principal(properties)}
    else:
        options = {"username": properties["sasl.username"], "password": properties["sasl.password"]}
    return {"sasl.jaas.config": _jaas(properties, options)}


def principal(properties: Mapping[str, str]) -> str:
    words = properties["sasl.oauthbearer.config"].split()
    return next((w.removeprefix("principal=") for w in words if w.startswith("principal=")), "")


def _jaas(properties: Mapping[str, str], options: Mapping[str, str]) -> str:
    module = f"{_SECURITY}.{_MODULES[properties['sasl.mechanism']]}"
    return " ".join([module, "required", *(f"{n}={_quoted(v)}" for n, v in options.items())]) + ";"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
