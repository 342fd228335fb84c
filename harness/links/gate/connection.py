"""A client's connection and its connection to the broker.

When a client disconnects, the requests that it sent are still delivered, including held ones once
they are released; then the broker's side is shut down. When the broker disconnects, both close.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial

from onceproof.harness.links.gate.exchange import REQUEST_HEAD, RESPONSE_HEAD, Exchange
from onceproof.harness.links.gate.inlet import Inlet
from onceproof.harness.links.gate.outlet import End, Item, Outlet
from onceproof.harness.links.gate.splitter import Splitter


class Connection:
    """Both sides of one connection."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        client: socket.socket,
        broker: socket.socket,
        exchange: Callable[[Callable[[], None]], Exchange],
        gone: Callable[[], None],
    ) -> None:
        """Create one; `exchange` gets the callback that closes the client's side.

        `gone` is called when both sides are closed.
        """
        self._client = client
        self._broker = broker
        self._exchange = exchange(self.leave)
        self._gone = gone
        self._closed = False
        self.requests = Inlet(
            loop,
            client,
            Splitter(
                head=REQUEST_HEAD.size,
                wanted=self._exchange.wants_request,
                strange=partial(self._exchange.strange, "request"),
            ),
            whole=self._request,
            between=list,  # the gate adds no requests
            over=lambda: self._to_broker.put([End(self._no_more_requests)]),
        )
        self.responses = Inlet(
            loop,
            broker,
            Splitter(
                head=RESPONSE_HEAD.size,
                wanted=self._exchange.wants_response,
                strange=partial(self._exchange.strange, "response"),
            ),
            whole=self._exchange.response,
            between=self._exchange.due,
            over=lambda: self._to_client.put([End(self.close)]),
        )
        self._to_broker = Outlet(loop, broker, self.requests.drained)
        self._to_client = Outlet(loop, client, self.responses.drained)

    def start(self) -> None:
        self.requests.start(self._to_broker)
        self.responses.start(self._to_client)

    def go_on(self) -> None:
        """Continue writing after a held frame was released, or answered by the gate."""
        self._to_broker.go_on()
        self._to_client.go_on()
        self.responses.fill_in()

    def leave(self) -> None:
        """Close the client's side; its earlier requests are still delivered."""
        if self._closed:
            return
        self.requests.stop()
        self._to_client.give_up()
        self._client.close()
        self._to_broker.put([End(self._no_more_requests)])

    def close(self) -> None:
        """Close both sides; held frames are lost."""
        if self._closed:
            return
        self._closed = True
        self.requests.stop()
        self.responses.stop()
        self._to_broker.give_up()
        self._to_client.give_up()
        self._client.close()
        self._broker.close()
        self._gone()

    def _request(self, frame: bytes) -> list[Item]:
        items = self._exchange.request(frame)
        self.responses.fill_in()  # the gate itself may answer
        return items

    def _no_more_requests(self) -> None:
        try:
            self._broker.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
