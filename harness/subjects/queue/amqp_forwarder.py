"""A forwarder by AMQP 1.0, started by `amqp.py`.

After any error it reconnects, as an application must, and the broker redelivers unaccepted
messages. AMQP has no time-out for declare and commit, so it closes a silent connection.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from proton import Delivery, Message, ProtonException, Timeout
from proton.handlers import MessagingHandler, TransactionHandler
from proton.utils import BlockingConnection

from onceproof.harness.clock import now
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.subjects.group.effect import effect_of
from onceproof.harness.subjects.group.life import say
from onceproof.harness.subjects.queue.moments import (
    AFTER_COMMIT,
    BEFORE_COMMIT,
    BEFORE_WRITE,
    LOOK_EVERY,
    Moments,
)
from onceproof.harness.subjects.queue.task import ForwarderTask

_SECONDS: Final = 3.0
"""Timeout of an answer."""
_WAIT: Final = 0.2
"""How long to wait for more messages of one transaction."""
_HEARTBEAT: Final = 2.0
_RECORD, _KEY, _DUPLICATE_ID = "onceproof_record", "onceproof_key", "_AMQ_DUPL_ID"


class _Inbox(MessagingHandler):  # type: ignore[misc]
    """Messages that were delivered and are not yet processed."""

    def __init__(self) -> None:
        super().__init__(prefetch=0, auto_accept=False)
        self.delivered: deque[tuple[Any, Any]] = deque()

    def on_message(self, event: Any) -> None:
        self.delivered.append((event.message, event.delivery))


class _Ending(TransactionHandler):  # type: ignore[misc]
    """Outcome of one transaction."""

    def __init__(self) -> None:
        super().__init__()
        self.transaction: Any = None
        self.outcome: str | None = None

    def on_transaction_declared(self, event: Any) -> None:
        self.transaction = event.transaction

    def on_transaction_declare_failed(self, event: Any) -> None:
        self.outcome = "not declared"

    def on_transaction_committed(self, event: Any) -> None:
        self.outcome = "committed"

    def on_transaction_commit_failed(self, event: Any) -> None:
        self.outcome = "not committed"


class Refused(Exception):
    """The broker refused a request; the text says which."""


class Forwarder:
    """One life of a forwarder, with one connection after another."""

    def __init__(self, task: ForwarderTask) -> None:
        self._task = task
        self._transacted = task.acknowledge == "transacted"
        self._batch = task.batch if self._transacted else 1
        self._moments = Moments(Path(task.work), task.name)
        self._history = HistoryWriter(Path(task.history), task.name)

    def run(self) -> None:
        while True:
            try:
                self._connected()
            except (ProtonException, Refused, OSError) as error:
                say(f"reconnecting: {type(error).__name__}: {error}")

    def _connected(self) -> None:
        connection = BlockingConnection(
            f"amqp://{self._task.broker}",
            timeout=_SECONDS,
            heartbeat=_HEARTBEAT,
            allowed_mechs="ANONYMOUS",
        )
        try:
            inbox = _Inbox()
            receiver = connection.create_receiver(self._task.source, credit=0, handler=inbox)
            sender = connection.create_sender(self._task.sink)
            while True:
                if not receiver.link.credit:
                    receiver.link.flow(self._batch)
                taken = self._take(connection, inbox)
                if taken:
                    self._forward(connection, sender, taken)
        finally:
            connection.close()

    def _take(self, connection: Any, inbox: _Inbox) -> list[tuple[Any, Any]]:
        """Return the delivered messages, after waiting briefly for a full batch."""
        with suppress(Timeout):  # then return what has arrived
            connection.wait(
                lambda: len(inbox.delivered) >= self._batch, timeout=_WAIT, msg="more messages"
            )
        taken = list(inbox.delivered)
        inbox.delivered.clear()
        return taken

    def _forward(self, connection: Any, sender: Any, taken: list[tuple[Any, Any]]) -> None:
        messages = [message for message, _ in taken]
        self._record("delivered", messages)
        first = str(messages[0].properties[_RECORD])
        self._reached(connection, BEFORE_WRITE, first)
        if self._transacted:
            self._in_transaction(connection, sender, taken, first)
        else:
            for message, delivery in taken:
                if sender.send(self._effect(message)).remote_state != Delivery.ACCEPTED:
                    raise Refused(f"the effect of {first} was not accepted")
                self._record("written", [message])
                self._reached(connection, BEFORE_COMMIT, first)
                delivery.update(Delivery.ACCEPTED)
                delivery.settle()
                self._flush(connection)
        self._reached(connection, AFTER_COMMIT, first)

    def _reached(self, connection: Any, moment: str, record: str) -> None:
        """Wait at a moment if that is requested, and send heartbeats meanwhile."""

        def idle() -> None:
            time.sleep(LOOK_EVERY)
            with suppress(ProtonException):  # it is used again later
                connection.wait(lambda: False, timeout=LOOK_EVERY)

        self._moments.reached(moment, record, idle)

    def _in_transaction(
        self, connection: Any, sender: Any, taken: list[tuple[Any, Any]], first: str
    ) -> None:
        ending = _Ending()
        connection.container.declare_transaction(
            connection.conn, handler=ending, settle_before_discharge=True
        )
        connection.wait(lambda: ending.transaction or ending.outcome, msg="a new transaction")
        if ending.transaction is None:
            raise Refused("a transaction was not declared")
        sent = []
        for message, delivery in taken:
            connection.wait(lambda: sender.link.credit, msg="link credit")
            sent.append(ending.transaction.send(sender.link, self._effect(message)))
            ending.transaction.accept(delivery)
        self._flush(connection)
        self._record("written", [message for message, _ in taken])
        self._reached(connection, BEFORE_COMMIT, first)
        ending.transaction.commit()
        connection.wait(lambda: ending.outcome, msg="the transaction's outcome")
        for delivery in sent:
            delivery.settle()
        if ending.outcome != "committed":
            raise Refused(f"a transaction was {ending.outcome}")

    @staticmethod
    def _flush(connection: Any) -> None:
        """Wait until everything is sent: a kill must not find a message in this process only."""
        connection.wait(lambda: not connection.conn.transport.pending(), msg="pending output")

    def _effect(self, message: Any) -> Any:
        received: Mapping[str, Any] = message.properties
        properties = {_RECORD: received[_RECORD], _KEY: received[_KEY]}
        if self._task.duplicate_ids:
            properties[_DUPLICATE_ID] = str(message.id)
        body = effect_of(message.body.encode()).decode()
        return Message(body=body, properties=properties, durable=True)

    def _record(self, kind: str, messages: list[Any]) -> None:
        rows = [
            {"record": str(message.properties[_RECORD]), "by": self._task.name, "at": now()}
            for message in messages
        ]
        self._history.write_all(kind, rows)


def main() -> None:
    Forwarder(ForwarderTask.load(Path(sys.argv[-1]))).run()
