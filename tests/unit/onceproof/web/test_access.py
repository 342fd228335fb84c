"""Who may use the page: one browser for each link, no other site, no other user."""

from __future__ import annotations

import os
import socket

import pytest

from onceproof.web.access import Denied, Sessions, check_origin, check_user, user_of

HOST = "127.0.0.1:7"


def test_link_is_good_for_one_session() -> None:
    sessions = Sessions()
    token = sessions.link()
    session = sessions.begin(token)
    sessions.check(f"Bearer {session}")
    with pytest.raises(Denied):
        sessions.begin(token)
    assert sessions.begin(sessions.link()) != session


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Bearer x", "Basic {}", "{}"])
def test_other_authorizations_are_denied(header: str) -> None:
    sessions = Sessions()
    session = sessions.begin(sessions.link())
    with pytest.raises(Denied):
        sessions.check(header.format(session))


def test_token_of_a_link_is_no_session() -> None:
    sessions = Sessions()
    with pytest.raises(Denied):
        sessions.check(f"Bearer {sessions.link()}")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": HOST},
        {"host": "localhost:7"},
        {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"},
        {"host": HOST, "sec-fetch-site": "none"},
    ],
)
def test_own_pages_and_programs_are_served(headers: dict[str, str]) -> None:
    check_origin(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "rebound.example:7"},
        {"host": "127.0.0.1.rebound.example:7"},
        {"host": "["},
        {"host": HOST, "origin": "http://127.0.0.1:8"},
        {"host": HOST, "origin": f"https://{HOST}"},
        {"host": HOST, "origin": "null"},
        {"host": HOST, "sec-fetch-site": "cross-site"},
        {"host": HOST, "sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_denied(headers: dict[str, str]) -> None:
    with pytest.raises(Denied):
        check_origin(headers)


def test_user_of_a_connection_is_that_of_its_client_end() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as client,
    ):
        server, _ = listening.accept()
        with server:
            ends = client.getsockname(), listening.getsockname()
            check_user(*ends, owner=os.getuid())
            if os.getuid() != 0:
                with pytest.raises(Denied):
                    check_user(*ends, owner=os.getuid() + 1)


def test_unknown_connection_is_denied() -> None:
    with pytest.raises(Denied):
        check_user(("127.0.0.1", 1), ("127.0.0.1", 1), owner=os.getuid())


CONNECTIONS = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 3 1
   3: 0100007F:C352 0100007F:1F90 04 00000000:00000000 00:00000000 00000000     0        0 0 1
"""


@pytest.mark.parametrize(
    ("client", "user"),
    [
        (("127.0.0.1", 50000), 1001),
        (("127.0.0.1", 50001), None),
        # Closed by its process, so that the kernel no longer knows whose it was.
        (("127.0.0.1", 50002), None),
    ],
)
def test_user_is_read_from_the_kernels_table(client: tuple[str, int], user: int | None) -> None:
    assert user_of(CONNECTIONS, client, ("127.0.0.1", 8080)) == user
