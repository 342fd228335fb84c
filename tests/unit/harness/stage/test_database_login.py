"""The password of a run's database, and how programs get it."""

from __future__ import annotations

from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from onceproof.harness.stage.database_login import (
    Login,
    connection_string,
    credentials,
    for_programs,
)


def test_password_is_in_a_private_file(tmp_path: Path) -> None:
    first, second = Login.new(tmp_path / "it's 1"), Login.new(tmp_path / "2")
    assert first.password != second.password
    assert first.file.stat().st_mode & 0o777 == 0o600
    database = connection_string("127.1.2.3", 5432, first.file)
    assert first.password not in database
    assert credentials(database).password == first.password


def test_command_line_omits_password_and_passfile(
    tmp_path: Path,
) -> None:
    login = Login.new(tmp_path / "login")
    database, environment = for_programs(connection_string("127.1.2.3", 5432, login.file))
    assert conninfo_to_dict(database) == {
        "host": "127.1.2.3",
        "port": "5432",
        "user": "onceproof",
        "dbname": "postgres",
        "connect_timeout": "5",
    }
    assert environment == {"PGPASSFILE": str(login.file)}


def test_external_database_is_passed_unchanged() -> None:
    external = "postgresql://me:secret@db.example/trial"
    assert for_programs(external) == (external, {})
