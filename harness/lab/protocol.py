"""Answer the requests of a lab's clients, whatever they are sent over.

`docs/reference/lab.md` is the contract. The Unix socket and the page in a browser both use it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.kafka.connecting.connection import client_properties
from onceproof.harness.kafka.topic import BadTopic, Topic
from onceproof.harness.lab.by_hand import (
    ByHand,
    Ending,
    NoSuchFault,
    NotHeld,
    NotOffered,
    TopicRefused,
)
from onceproof.harness.lab.choices import choices, kinds
from onceproof.harness.lab.cluster import Cluster
from onceproof.harness.lab.status import bootstraps, fault_of, status
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Interrupted, Overdue

MAX_BYTES: Final = 64 * 1024
"""Maximum size of the body of a request."""
NO_ERRORS: Final = ("error:", "error:NO_ERROR")
_LONGEST_NOTE: Final = 2000
"""Characters."""


class Refused(Exception):
    """A request that is refused, with a status and a reason."""

    def __init__(self, code: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.code = code


def too_large() -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {MAX_BYTES} bytes")


def parsed(text: bytes) -> dict[str, Any]:
    """Parse the body of a request; raise `Refused` if it is not a JSON object."""
    try:
        body = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refused(HTTPStatus.BAD_REQUEST, "expected a JSON object")
    return body


class LabProtocol:
    """The requests that one lab accepts. Thread-safe."""

    def __init__(self, lab: ByHand, about: Mapping[str, Any]) -> None:
        self._lab = lab
        self._about = about
        self.link: Callable[[], str] | None = None
        """Makes an address of the lab's page for one more browser, if it has a page."""
        self._cluster = Cluster(lab.context)
        self._asking = threading.Lock()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
        """Return status and content for a request.

        Raises:
            Refused: with the status and the error text.
        """
        try:
            return self._answer(method, path, body)
        except (UnknownFault, BadTopic) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from error
        except NoSuchFault as error:
            raise Refused(HTTPStatus.NOT_FOUND, str(error)) from error
        except (Overdue, StageTrouble, NotHeld, NotOffered, TopicRefused) as error:
            raise Refused(HTTPStatus.CONFLICT, str(error)) from error
        except Ending as error:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from error
        except Interrupted as error:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, f"the lab is ending: {error}") from error
        except Refused:
            raise
        except Exception as error:
            # During tear-down, parts of the stage fail with errors of many kinds.
            if self._lab.ending:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the lab is ending") from error
            words = f"{type(error).__name__}: {error}"
            raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, words) from error

    def _answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[HTTPStatus, Any]:
        match method, path.strip("/").split("/"):
            case "GET", [""]:
                return HTTPStatus.OK, self._describe_lab()
            case "GET", ["status"]:
                return HTTPStatus.OK, status(self._lab.context, self._lab.executions)
            case "GET", ["kinds"]:
                return HTTPStatus.OK, kinds(self._lab.offered)
            case "GET", ["choices"]:
                return HTTPStatus.OK, choices(self._lab.context, self._lab.offered)
            case "GET", ["cluster"]:
                with self._asking:
                    return HTTPStatus.OK, self._cluster.now()
            case "POST", ["links"]:
                if self.link is None:
                    raise Refused(HTTPStatus.CONFLICT, "the lab has no page: start it with --web")
                return HTTPStatus.CREATED, {"address": self.link()}
            case "POST", ["notes"]:
                return HTTPStatus.CREATED, self._write_note(body)
            case "POST", ["topics"]:
                return HTTPStatus.CREATED, self._make_topic(body)
            case "GET", ["faults"]:
                return HTTPStatus.OK, [fault_of(execution) for execution in self._lab.executions]
            case "POST", ["faults"]:
                return HTTPStatus.CREATED, self._begin(body)
            case "POST", ["faults", name, "heal"]:
                return HTTPStatus.OK, fault_of(self._lab.heal(name, **_decision(body)))
            case "POST", ["heal"]:
                return HTTPStatus.OK, [fault_of(execution) for execution in self._lab.heal_all()]
            case "POST", ["end"]:
                judge = body.get("judge", True)
                if not isinstance(judge, bool):
                    raise Refused(HTTPStatus.BAD_REQUEST, "judge: expected true or false")
                self._lab.end(judge=judge)
                return HTTPStatus.ACCEPTED, {"judge": judge}
        raise Refused(HTTPStatus.NOT_FOUND, f"there is no {method} {path}")

    def _describe_lab(self) -> dict[str, Any]:
        stage = self._lab.context.stage
        return {
            **self._about,
            "bootstrap": bootstraps(self._lab.context),
            "database": {who: stage.database(who) for who in ("pipeline", AUDITOR)},
            "client_properties": client_properties(),
            "links": [str(link) for link in stage.links()],
        }

    def _make_topic(self, body: dict[str, Any]) -> dict[str, Any]:
        word = body.get("topic")
        if not isinstance(word, str):
            raise Refused(HTTPStatus.BAD_REQUEST, 'expected {"topic": "NAME:PARTITIONS"}')
        topic = self._lab.make_topic(Topic.parse(word))
        return {"name": topic.name, "partitions": topic.partitions}

    def _write_note(self, body: dict[str, Any]) -> dict[str, str]:
        text = body.get("text")
        if not isinstance(text, str) or not 0 < len(text.strip()) <= _LONGEST_NOTE:
            raise Refused(
                HTTPStatus.BAD_REQUEST,
                f'expected {{"text": …}} of 1 to {_LONGEST_NOTE} characters',
            )
        self._lab.write_note(text.strip())
        return {"text": text.strip()}

    def _begin(self, body: dict[str, Any]) -> dict[str, Any]:
        name, words = body.get("fault"), body.get("arguments", [])
        if (
            not isinstance(name, str)
            or not isinstance(words, list)
            or not all(isinstance(word, str) for word in words)
        ):
            raise Refused(
                HTTPStatus.BAD_REQUEST,
                'expected {"fault": NAME, "arguments": [WORD, …]}, '
                'such as {"fault": "isolate", "arguments": ["broker-2"]}',
            )
        execution = self._lab.begin(name, asked(name, words))
        if execution.state == "failed":
            raise Refused(HTTPStatus.CONFLICT, f"{execution.at.name}: {execution.detail}")
        return fault_of(execution)


def _decision(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `ByHand.heal` does with held messages."""
    match body.get("messages", "forward"):
        case "forward":
            return {}
        case "drop":
            return {"drop": True}
        case str() as word if word.startswith("error:") and word not in NO_ERRORS:
            return {"error": word.removeprefix("error:")}
    raise Refused(
        HTTPStatus.BAD_REQUEST, "messages: expected forward, drop or error:NAME, with Kafka's name"
    )
