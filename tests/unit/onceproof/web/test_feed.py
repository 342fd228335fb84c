"""The feed: every reader gets every event, and the latest state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from onceproof.reports.event_lines.model import Line, PhaseBegan, Progress, StreamEnded
from onceproof.web.feed import Feed


def phase(name: str) -> Line:
    return PhaseBegan(at="", run="r", seconds=0, phase=name)


async def next_of(lines: AsyncIterator[str]) -> list[dict[str, Any]]:
    text = await asyncio.wait_for(anext(lines), 20)
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def names(lines: list[dict[str, Any]]) -> list[str]:
    return [line.get("phase", line["event"]) for line in lines]


def test_every_reader_gets_every_event() -> None:
    async def read() -> None:
        feed = Feed()
        feed.write(phase("arrange"))
        first = feed.follow()
        assert names(await next_of(first)) == ["arrange"]
        feed.write(phase("warm-up"))
        feed.write(Progress(at="", run="r", seconds=1, acknowledged=1, total=2, pipeline=None))
        assert names(await next_of(first)) == ["warm-up"]
        second = feed.follow()
        assert names(await next_of(second)) == ["arrange", "warm-up"]
        assert feed.readers == 2
        for reader in (first, second):
            await reader.aclose()
        assert feed.readers == 0

    asyncio.run(read())


def test_only_the_latest_state_is_shown() -> None:
    async def read() -> None:
        feed = Feed()
        reader = feed.follow()
        feed.show({"n": 1})
        (state,) = await next_of(reader)
        assert (state["event"], state["n"]) == ("state", 1)
        feed.show({"n": 2})
        feed.show({"n": 3})
        assert [line["n"] for line in await next_of(reader)] == [3]
        later = feed.follow()
        assert [line["n"] for line in await next_of(later)] == [3]
        await reader.aclose()
        await later.aclose()
        feed.show({"n": 4})
        feed.forget_state()
        # Nobody looked meanwhile, so the state would be old.
        feed.write(phase("heal"))
        assert names(await next_of(feed.follow())) == ["heal"]

    asyncio.run(read())


def test_readers_end_after_the_last_event() -> None:
    async def read() -> list[str]:
        feed = Feed()
        feed.write(StreamEnded(at="", exit_code=0))
        feed.close()
        return [text async for text in feed.follow()]

    (text,) = asyncio.run(read())
    assert json.loads(text)["exit_code"] == 0
