"""The fast reader of regular lines agrees with the complete reader."""

from __future__ import annotations

import io
from pathlib import Path
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from onceproof.checkers.imports import BadImport, jepsen_lines
from onceproof.checkers.imports.jepsen_file import operations
from onceproof.checkers.imports.jepsen_ops import Names, Operation
from tests.unit.checkers.imports.generate import Cluster

Outcome = tuple[list[Operation | None], list[str], str]


def outcome(text: bytes, *, regular: bool) -> Outcome:
    """Read a file; return its operations, the names of its keys, and the error."""
    names = Names()
    found: list[Operation | None] = []
    without_fast_reader = patch.object(jepsen_lines, "regular", lambda lines: [None] * len(lines))
    try:
        if regular:
            found += operations(io.BytesIO(text), Path("h.edn"), names)
        else:
            with without_fast_reader:
                found += operations(io.BytesIO(text), Path("h.edn"), names)
    except BadImport as error:
        return [], [], str(error)
    return found, names.keys, ""


def assert_readers_agree(text: str | bytes) -> Outcome:
    """Assert that both readers have the same outcome, and return it."""
    data = text if isinstance(text, bytes) else text.encode()
    fast = outcome(data, regular=True)
    assert fast == outcome(data, regular=False)
    return fast


def count_regular(text: str) -> int:
    """Count the lines that the fast reader accepts."""
    lines = text.encode().splitlines(keepends=True)
    return sum(found is not None for found in jepsen_lines.regular(lines))


_numbers = st.integers(0, 3).map(str) | st.sampled_from(
    ["10", "01", "-1", "007", "9" * 18, "9" * 19]
)
_values = _numbers | st.sampled_from(["nil", '"a"', ":a", "1.5", "[1]"])
_records = st.lists(st.tuples(_numbers, _values).map(lambda r: f"[{r[0]} {r[1]}]"), max_size=3).map(
    lambda records: f"[{' '.join(records)}]"
)
_polled = st.lists(st.tuples(_numbers, _records).map(" ".join), max_size=3).map(
    lambda keys: f"{{{', '.join(keys)}}}"
)
_done = st.one_of(
    st.tuples(_numbers, _values).map(lambda s: f"[:send {s[0]} {s[1]}]"),
    st.tuples(_numbers, _values, _values).map(lambda s: f"[:send {s[0]} [{s[1]} {s[2]}]]"),
    _polled.map(lambda polled: f"[:poll {polled}]"),
    st.sampled_from(["[:poll]", "[:poll nil]", "[:send 1]", "1"]),
)
_value = st.lists(_done, max_size=3).map(lambda done: f"[{' '.join(done)}]")
_field = st.one_of(
    _value.map(":value {}".format),
    st.sampled_from(["nil", "[1 2 1]", "[]", "7", "[nil]"]).map(":value {}".format),
    st.sampled_from([":send", ":poll", ":txn", ":assign", ":crash", ":append"]).map(":f {}".format),
    st.sampled_from([":invoke", ":ok", ":fail", ":info", ":OK"]).map(":type {}".format),
    st.tuples(st.sampled_from([":time", ":index", ":process", ":poll-ms"]), _numbers).map(" ".join),
    st.sampled_from([":seek-to-beginning? true", ":seek-to-beginning? nil", ":other 1"]),
    st.sampled_from(
        ["nil", ":timeout", ":a/b", "{:type :abort, :abort-ok? true}", "{:a}", '[:timeout "a]é"]',
         '[:timeout "a\\" ]"]', "[:a [1]]", "[1}", "[a@b]", "{:a 1, :a 2}", "{}", "[1 2]"]
    ).map(":error {}".format),
)  # fmt: skip
_line = st.tuples(
    st.sampled_from(["{", "#jepsen.history.Op{", "#other{", " {", "[{"]),
    st.lists(_field, max_size=3),
    st.permutations([":process 1", ":type :ok", ":f :txn", ":value [[:poll {2 [[0 1]]}]]"]),
    st.integers(0, 4),
    st.sampled_from([", ", " ", ","]),
    st.sampled_from(["}\n", "}\r\n", ", }\n", "}", "}]\n", "\n}\n", "} ; comment\n"]),
).map(lambda p: p[0] + p[4].join([*p[1], *p[2][: p[3]]]) + p[5])


@given(st.lists(_line, max_size=4).map("".join))
@example("{:process 1, :process 2, :type :ok, :f :crash}")
@example("{:process 1, :type :ok, :f :poll, :value [[:poll {1 [], 1 [[0 1]]}]]}")
@example("{:process 1, :type :invoke, :f :send, :value [[:send 5 [0 1]]]}")
@example("{:process 1, :type :ok, :f :assign, :value [[:poll]]}")
@example("{:process 1, :type :ok, :f :send, :value [1 2]}")
@example('"a\n{:process 1, :type :ok, :f :crash}"')
@example("[\n{:process 1, :type :ok, :f :crash}\n")
@example("[\n{:process 1, :type :ok, :f :crash}\n]\n{:process 2, :type :ok, :f :crash}\n1")
@example("#a\n{:process 1, :type :ok, :f :crash}")
@example("#_\n{:process 1, :type :ok, :f :crash}")
@example('{:process 1, :type :ok, :f :send, :value [[:send "a" 1]]}\n'
         "{:process 1, :type :ok, :f :send, :value [[:send 5 [nil 1]]]}")  # fmt: skip
def test_readers_agree_on_arbitrary_lines(text: str) -> None:
    assert_readers_agree(text)


_TINY = "".join(Cluster(seed=7, keys=2, clients=2).operations(40)).encode()


@given(
    st.integers(0, len(_TINY)),
    st.integers(0, 30),
    st.sampled_from('[]{}": ,;#\\1\n\xff') | st.just(""),
)
def test_readers_agree_on_mutated_history(at: int, cut: int, inserted: str) -> None:
    assert_readers_agree(_TINY[:at] + inserted.encode("latin-1") + _TINY[at + cut :])


def test_nearly_all_lines_of_a_generated_history_are_regular() -> None:
    text = "".join(Cluster(seed=3).operations(2_000))
    found, keys, problem = assert_readers_agree(text)
    assert (len(found), len(keys), problem) == (text.count("\n"), 8, "")
    assert count_regular(text) > 0.98 * len(found)


def test_lines_as_jepsen_prints_them_are_regular() -> None:
    text = """\
#jepsen.history.Op{:index 8, :time 13, :type :invoke, :process 3, :f :txn, :value [[:send 5 140] [:poll]]}
#jepsen.history.Op{:index 9, :time 17, :type :ok, :process 3, :f :txn, :value [[:send 5 [nil 140]] [:poll {5 [[271 7] [273 8]], 6 []}] [:poll {}]]}
{:process 4, :type :info, :f :send, :value [[:send 5 141]], :index 10, :time 19, :error [:timeout "so long"]}
{:process 5, :type :ok, :f :assign, :value [5 6], :seek-to-beginning? true, :index 11, :time 23}
{:process 5, :type :invoke, :f :crash, :value nil, :index 12, :time 29}
"""  # noqa: E501
    assert count_regular(text) == 5
    (invoked, done, *_), keys, problem = assert_readers_agree(text)
    assert (keys, problem) == (["5", "6"], "")
    assert invoked is not None
    assert done is not None
    assert invoked.polls == [None]
    assert done.polls == [[(0, [271, 273], ["7", "8"]), (1, [], [])], []]
    assert (done.sends[0].offset, done.sends[0].answered) == (None, True)


def test_line_numbers_count_irregular_lines() -> None:
    irregular = '{:process 0, :type :ok, :f :send, :value\n [[:send "a" [0 1]]]}\n'
    text = (irregular + "{:process 1, :type :ok, :f :send, :value [[:send 5 [0 1]]]}\n") * 3_000
    found, keys, _ = assert_readers_agree(text)
    assert keys == ["a", "5 (number)"]
    assert [(op.line, op.number) for op in found if op][-2:] == [(8998, 5998), (9000, 5999)]
    _, _, problem = assert_readers_agree(text + "{:process 1}")
    assert "line 9001, field :type" in problem
