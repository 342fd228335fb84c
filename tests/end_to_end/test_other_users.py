"""Another user of the machine tries the doors of a run, with and without `--private`."""

from __future__ import annotations

import encodings.idna  # noqa: F401 (another user cannot read it any more)
import json
import os
import re
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from onceproof.harness.wait import wait_until
from tests.end_to_end.command import Started, onceproof

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user"),
]
SOMEBODY = 65533
REFUSED = "refused"
LISTENS = "0A"
Place = tuple[str, int]


def as_somebody(do: Callable[[], Any]) -> Any:
    """What comes of it when another user does it, who has of us only what is loaded."""
    reading, writing = os.pipe()
    if not os.fork():
        try:
            os.setgroups([])
            os.setgid(SOMEBODY)
            os.setuid(SOMEBODY)
            said = do()
        except BaseException:
            said = traceback.format_exc()
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    os.wait()
    return json.loads(text)


def reads(path: Path) -> str:
    try:
        return str(os.listdir(path) if path.is_dir() else path.read_text())
    except PermissionError:
        return REFUSED


def comes_in(user: str, place: Place) -> str:
    host, port = place
    try:
        psycopg.connect(
            host=host, port=port, user=user, dbname="postgres", connect_timeout=5
        ).close()
    except psycopg.OperationalError as error:
        return REFUSED if re.search("pg_hba|no password supplied", str(error)) else str(error)
    return f"{user} is in"


def answer(place: Place, method: str, path: str, body: object = None) -> int | str:
    """What a request comes to: a status, or why there is none."""
    connection = HTTPConnection(*place, timeout=5)
    try:
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        return connection.getresponse().status
    except OSError as error:
        return type(error).__name__
    finally:
        connection.close()


def reached(place: Place) -> bool:
    try:
        socket.create_connection(place, 5).close()
    except OSError:
        return False
    return True


def links(folder: Path) -> Iterator[str]:
    """Where the links of a folder lead, without those that go away meanwhile."""
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            yield str(file.readlink())


class Lab:
    """A lab that is up, with Kafka Connect and a database."""

    def __init__(self, out: Path, *options: str) -> None:
        self.name, self.log = f"doors-{os.getpid()}", out / "log"
        self.private = bool(options)
        scenario = "kafka-connect-file-source-quiet"
        self.run = Started(
            "lab", scenario, "--name", self.name, "--out", out, *options, log=self.log
        )

    def wait_up(self) -> None:
        wait_until(
            lambda: self.run.popen.poll() is not None or "onceproof end" in self.log.read_text(),
            what="the lab to be up",
            seconds=400,
            seen=self.log.read_text,
        )
        assert self.run.popen.poll() is None, self.log.read_text()

    def end(self) -> None:
        onceproof("end", "--lab", self.name)
        self.run.popen.wait(400)

    @property
    def folder(self) -> Path:
        return Path(re.findall(r"\((/.*)\)$", self.log.read_text(), re.MULTILINE)[0])

    @property
    def database(self) -> list[Place]:
        found = re.findall(r"host=(\S+) port=(\d+)", self.log.read_text())
        return [(host, int(port)) for host, port in found]

    def listens(self, program: str) -> list[Place]:
        """Where the lab's processes of a program listen, in their network."""
        mark, found = f"ONCEPROOF_RUN={self.run.popen.pid}-".encode(), []
        for process in psutil.process_iter():
            at = Path(f"/proc/{process.pid}")
            try:
                ours = mark in (at / "environ").read_bytes()
                if not ours or program not in (at / "cmdline").read_text():
                    continue
                inodes = set(links(at / "fd"))
            except OSError:
                continue
            for line in (at / "net" / "tcp").read_text().splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if state == LISTENS and f"socket:[{inode}]" in inodes:
                    host, port = local.split(":")
                    number = bytes.fromhex(host)[::-1]
                    found.append((socket.inet_ntoa(number), int(port, 16)))
            for line in (at / "net" / "tcp6").read_text().splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if state == LISTENS and f"socket:[{inode}]" in inodes:
                    host, port = local.split(":")
                    number = bytes.fromhex(host[24:])[::-1]  # an IPv4 address within an IPv6 one
                    found.append((socket.inet_ntoa(number), int(port, 16)))
        return found


@pytest.fixture(params=[(), ("--private",)], ids=["shared", "private"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)  # else pytest's own folder would refuse
    up = Lab(tmp_path, *request.param)
    try:
        up.wait_up()
        yield up
    finally:
        up.end()


def test_another_user_gets_nothing(lab: Lab) -> None:
    work = lab.folder / "work"
    assert (work / "postgres-login").exists()
    assert reads(work) != REFUSED
    secrets = [lab.folder, work, work / "postgres-login", work / "connect-users"]
    assert as_somebody(lambda: [reads(path) for path in secrets]) == [REFUSED] * 4

    database, workers = lab.database, lab.listens("ConnectDistributed")
    brokers, toxiproxy = lab.listens("kafka.Kafka"), lab.listens("toxiproxy")
    assert len(database) == len(workers) == 2, (database, workers)
    assert brokers
    assert toxiproxy
    everything = [*database, *workers, *brokers, *toxiproxy]
    if lab.private:
        assert as_somebody(lambda: [p for p in everything if reached(p)]) == []
        return
    assert as_somebody(lambda: [p for p in everything if not reached(p)]) == []
    users = ("superuser", "postgres", "onceproof")
    tried = as_somebody(lambda: [comes_in(user, place) for user in users for place in database])
    assert tried == [REFUSED] * 6
    put = {"connector.class": "FileStreamSink", "file": "/tmp/theirs", "topics": "payments"}
    for method, path in (("PUT", "/connectors/x/config"), ("GET", "/connectors")):
        said = as_somebody(lambda m=method, p=path: [answer(w, m, p, put) for w in workers])
        assert said == [401, 401]
    # What limits.md says is open without --private: the control port of toxiproxy, for one.
    assert 200 in as_somebody(lambda: [answer(p, "GET", "/proxies") for p in toxiproxy])
