"""librdkafka's properties translated for Kafka's Java client."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.kafka.connecting.java import java_properties

STORE = Path("/run/keystore.pem")


def test_jaas_config_escapes_the_password() -> None:
    found = java_properties(
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "trial",
            "sasl.password": 'a"b\\c',
        },
        keystore=STORE,
    )
    assert found == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="trial" password="a\\"b\\\\c";',
    }


def test_certificates_become_pem_stores() -> None:
    found = java_properties(
        {
            "security.protocol": "SSL",
            "ssl.ca.location": "/ca.pem",
            "ssl.certificate.location": "/me.pem",
            "ssl.key.location": "/me.key",
            "ssl.key.password": "open-sesame",
            "ssl.endpoint.identification.algorithm": "none",
        },
        keystore=STORE,
    )
    assert found == {
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(STORE),
        "ssl.key.password": "open-sesame",
        "ssl.endpoint.identification.algorithm": "",
    }


def test_oidc_settings_become_a_jaas_config() -> None:
    url = "https://login.example/token"
    found = java_properties(
        {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": "trial",
            "sasl.oauthbearer.client.secret": "open-sesame",
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.token.endpoint.url": url,
        },
        keystore=STORE,
    )
    assert found["sasl.oauthbearer.token.endpoint.url"] == url
    assert found["sasl.jaas.config"].endswith(
        'OAuthBearerLoginModule required clientId="trial" clientSecret="open-sesame" scope="kafka";'
    )
