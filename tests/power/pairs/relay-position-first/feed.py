"""Put orders into the table that the relay reads; the same order twice is one row."""

import json
import sys

import psycopg

with psycopg.connect(sys.argv[1]) as database:
    database.execute(
        "CREATE TABLE IF NOT EXISTS orders "
        "(id bigserial PRIMARY KEY, order_id text UNIQUE, body text NOT NULL)"
    )
    rows = [(json.loads(line)["order_id"], line.strip()) for line in sys.stdin]
    database.cursor().executemany(
        "INSERT INTO orders (order_id, body) VALUES (%s, %s) ON CONFLICT DO NOTHING", rows
    )
