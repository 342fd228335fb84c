"""Producer with valkey-py: it sends an entry again until the server has answered.

Each entry is answered before the next one is sent.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from valkey.exceptions import ValkeyError

from onceproof.harness.queues.connections import sender
from onceproof.harness.valkey.client import connect
from onceproof.harness.workload.clients.runtime import Call, SenderRuntime, load_runtime

_PAUSE: Final = 0.1
_SCRIPT: Final = """
if redis.call('SET', KEYS[1] .. ':' .. ARGV[1], '1', 'NX') then
  redis.call('XADD', KEYS[1], '*', unpack(ARGV, 2))
end
return 1
"""
"""Add an entry unless one with this id was added before."""


class Sending:
    """Send the records of one task."""

    def __init__(self, runtime: SenderRuntime) -> None:
        self._runtime = runtime
        self._client: Any = None

    def send_all(self) -> None:
        runtime = self._runtime
        while not runtime.over:
            runtime.listen(runtime.until_due)
            for call in runtime.due():
                self._send(call)
                runtime.report()
            runtime.report()
        self._close()
        runtime.close()

    def _send(self, call: Call) -> None:
        while True:
            self._runtime.listen()
            try:
                self._add(call)
            except (ValkeyError, OSError) as error:
                reason = f"{type(error).__name__}: {error}"
                print(f"resending {call.record.record}: {reason}", file=sys.stderr)
                self._close()
                time.sleep(_PAUSE)
                continue
            self._runtime.acknowledged(call.attempt, 0, None)
            return

    def _add(self, call: Call) -> None:
        task, record = self._runtime.task, call.record
        if self._client is None:
            self._client = connect(task.bootstrap, sender(task.name))
        fields = {
            "value": (call.value or b"").decode(),
            "onceproof_record": record.record,
            "onceproof_attempt": call.attempt,
            "onceproof_key": record.key,
        }
        if task.client["message_ids"]:
            words = [word for field in fields.items() for word in field]
            self._client.eval(_SCRIPT, 1, record.topic, record.record, *words)
        else:
            self._client.xadd(record.topic, fields)

    def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


def main() -> None:
    Sending(load_runtime()).send_all()
