"""libpq connection strings as URLs."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.user_pipeline.database_url import database_url, jdbc_url


@pytest.mark.parametrize(
    ("database", "url"),
    [
        ("", ""),
        (
            "host=127.0.0.1 port=19509 user=onceproof dbname=postgres connect_timeout=5",
            "jdbc:postgresql://127.0.0.1:19509/postgres?user=onceproof",
        ),
        (
            "host=db.example dbname=trial user=trial",
            "jdbc:postgresql://db.example:5432/trial?user=trial",
        ),
        (
            "postgresql://me:p%40ss@db.example:6432/trial?sslmode=require",
            "jdbc:postgresql://db.example:6432/trial?user=me&password=p%40ss&sslmode=require",
        ),
        ("host=a,b port=1,2 dbname=x", "jdbc:postgresql://a:1,b:2/x"),
        ("host=a,b dbname=x", "jdbc:postgresql://a:5432,b:5432/x"),
        ("host=::1 user=x", "jdbc:postgresql://[::1]:5432/x?user=x"),
        ("dbname=x", "jdbc:postgresql://localhost:5432/x"),
    ],
)
def test_jdbc_url(database: str, url: str) -> None:
    assert jdbc_url(database) == url


@pytest.mark.parametrize(
    ("database", "url"),
    [
        ("", ""),
        (
            "host=127.0.0.1 port=19509 user=onceproof dbname=postgres connect_timeout=5",
            "postgresql://onceproof@127.0.0.1:19509/postgres",
        ),
        ("host=::1 dbname=x sslmode=require", "postgresql://[::1]:5432/x?sslmode=require"),
    ],
)
def test_database_url(database: str, url: str) -> None:
    assert database_url(database) == url


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(user=_TEXT, password=_TEXT, dbname=_TEXT)
def test_urls_quote_user_password_and_database(user: str, password: str, dbname: str) -> None:
    database = make_conninfo(host="h", user=user, password=password, dbname=dbname)
    assert conninfo_to_dict(database_url(database)) == {
        **conninfo_to_dict(database),
        "port": "5432",
    }
    url = jdbc_url(database)
    parts = urlsplit(url.removeprefix("jdbc:"))
    assert (parts.netloc, unquote(parts.path)) == ("h:5432", f"/{dbname}")
    assert dict(parse_qsl(parts.query)) == {"user": user, "password": password}


@pytest.mark.parametrize(
    ("database", "message"),
    [
        ("host=a,b port=1,2,3", "ports"),
        ("host=/var/run/postgresql", "no equivalent of /var/run/postgresql"),
        ("host=h passfile=there", "no equivalent of passfile"),
        ("host", "is not a connection string"),
    ],
)
def test_rejects_strings_without_an_equivalent_url(database: str, message: str) -> None:
    for url in (jdbc_url, database_url):
        with pytest.raises(StageTrouble, match=message):
            url(database)
