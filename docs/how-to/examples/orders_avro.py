"""Orders and what is made of them in Avro, behind the five bytes of Confluent's serializers."""

import io
import struct

from fastavro import parse_schema, schemaless_reader, schemaless_writer

ORDER = parse_schema(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "order_id", "type": "string"},
            {"name": "customer", "type": "string"},
            {"name": "item", "type": "string"},
            {"name": "quantity", "type": "int"},
            {"name": "amount_cents", "type": "long"},
        ],
    }
)
PRICED = parse_schema(
    {
        "type": "record",
        "name": "Priced",
        "fields": [
            {"name": "order_id", "type": "string"},
            {"name": "euros", "type": "float"},
        ],
    }
)
SCHEMAS = {1: ORDER, 2: PRICED}


def write(number, record):
    """A record as bytes: zero, the schema's number, and Avro."""
    data = io.BytesIO()
    data.write(struct.pack(">bI", 0, number))
    schemaless_writer(data, SCHEMAS[number], record)
    return data.getvalue()


def read(data):
    """The reverse of `write`."""
    _, number = struct.unpack_from(">bI", data)
    return schemaless_reader(io.BytesIO(data[5:]), SCHEMAS[number], None)


def order(record):
    """The bytes of an order."""
    return write(1, record)


def priced(record):
    """What has to come of an order."""
    return {"order_id": record["order_id"], "euros": record["amount_cents"] / 100}
