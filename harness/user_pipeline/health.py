"""Check a program's health URL, as an orchestrator does."""

from __future__ import annotations

from collections.abc import Sequence
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.instances import PLACEHOLDER
from onceproof.harness.user_pipeline.placeholders import fill

_SUCCESS: Final = 2
"""First digit of a success status."""
_SECONDS: Final = 2.0


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Do not follow: another page tells nothing about this one."""


class Health:
    """A program is healthy if every URL answers with 2xx."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = tuple(urls)
        # No HTTP proxy: the program runs on this machine.
        self._opener = build_opener(ProxyHandler({}), _NoRedirects)
        self.seen = "it has not been requested yet"
        """The last answer, for messages."""

    def look(self) -> bool:
        return all((self._status(url) or 0) // 100 == _SUCCESS for url in self._urls)

    def silent(self) -> bool:
        """Return whether no URL answers at all."""
        return all(self._status(url) is None for url in self._urls)

    def check_free(self) -> None:
        """Raise `PipelineTrouble` if something answers: it would be mistaken for the program."""
        if not self.silent():
            raise PipelineTrouble(
                f"{self.seen} before the pipeline was first started; expected no answer. Another "
                "program uses this port: stop it, or give the pipeline another port."
            )

    def _status(self, url: str) -> int | None:
        try:
            with self._opener.open(url, timeout=_SECONDS) as answer:
                status = int(answer.status)
        except HTTPError as error:
            with error:
                status = error.code
        except (OSError, HTTPException) as error:
            self.seen = f"{url} did not answer: {getattr(error, 'reason', error)}"
            return None
        self.seen = f"{url} answered {status}"
        return status


def health_of(url: str, instances: int) -> Health:
    """Return the health check of several instances; `{instance}` in the URL is the instance number.

    Raises:
        BadRule: it is not an HTTP URL, or has another placeholder.
    """
    urls = [fill(url, {PLACEHOLDER.strip("{}"): str(n)}) for n in range(instances)]
    for each in urls:
        try:
            parts = urlsplit(each)
            port = parts.port
        except ValueError as error:
            raise BadRule(f"invalid URL {url!r}: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
            raise BadRule(f"invalid URL {url!r}: expected http://host:port/path")
    return Health(tuple(dict.fromkeys(urls)))
