"""Get tokens for OAUTHBEARER in the same ways as librdkafka."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Final

from onceproof.harness.kafka.connecting.java import principal
from onceproof.harness.kafka.connecting.refused import CredentialsRefused

_SECONDS: Final = 10.0
_LIFE_SECONDS: Final = 3600


def token(properties: Mapping[str, str]) -> str:
    """Get a token from the endpoint (`oidc`), or make an unsecured one.

    Raises:
        CredentialsRefused: the endpoint returns no token.
    """
    if properties.get("sasl.oauthbearer.method") == "oidc":
        return _from_endpoint(properties)
    now = int(time.time())
    claims = {"sub": principal(properties), "iat": now, "exp": now + _LIFE_SECONDS}
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."


def _from_endpoint(properties: Mapping[str, str]) -> str:
    url = properties["sasl.oauthbearer.token.endpoint.url"]
    credentials = (properties[f"sasl.oauthbearer.client.{part}"] for part in ("id", "secret"))
    basic = base64.b64encode(":".join(credentials).encode()).decode()
    form = {"grant_type": "client_credentials"}
    if scope := properties.get("sasl.oauthbearer.scope"):
        form["scope"] = scope
    request = urllib.request.Request(
        url,
        data=urllib.parse.urlencode(form).encode(),
        headers={"Authorization": f"Basic {basic}", "Accept": "application/json"},
    )
    try:
        context = ssl.create_default_context(cafile=properties.get("https.ca.location"))
        with urllib.request.urlopen(request, timeout=_SECONDS, context=context) as answer:
            return str(json.load(answer)["access_token"])
    except urllib.error.HTTPError as error:
        why = f"HTTP status {error.code}"
    except (OSError, ValueError, KeyError) as error:
        why = type(error).__name__
    raise CredentialsRefused(
        f"{url} returned no token: {why}. Check sasl.oauthbearer.token.endpoint.url, "
        "sasl.oauthbearer.client.id and sasl.oauthbearer.client.secret"
    )


def _encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
