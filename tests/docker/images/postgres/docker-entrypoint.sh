#!/usr/bin/env bash
# Initialize the data folder once, then exec the server as user postgres.
set -eu

if [[ "$(id -u)" = 0 ]]; then
  export POSTGRES_PASSWORD="$(cat "${POSTGRES_PASSWORD_FILE:-/dev/null}")"
  chown -R postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi

if [[ ! -s "$PGDATA/PG_VERSION" ]]; then
  initdb --username="${POSTGRES_USER:-postgres}" --auth=trust --encoding=UTF8 --no-sync \
    --no-instructions > /dev/null
  if [[ -n "${POSTGRES_PASSWORD:-}" ]]; then
    postgres --single -D "$PGDATA" postgres > /dev/null \
      <<< "ALTER ROLE ${POSTGRES_USER:-postgres} PASSWORD '$POSTGRES_PASSWORD'"
  fi
  echo "host all all all ${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  echo "unix_socket_directories = '/tmp'" >> "$PGDATA/postgresql.conf"
fi

exec "$@"
