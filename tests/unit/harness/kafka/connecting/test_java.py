"""Properties in the names of Kafka's Java client."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.kafka.connecting.java import java_properties

STORE = Path("/run/keystore.pem")


def test_a_password_is_quoted_for_jaas() -> None:
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


def test_certificates_are_stores_of_pem() -> None:
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


def test_tokens_come_from_the_same_endpoint() -> None:
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
