"""Sends to the queue `shipments` by AMQP 1.0: `put_some.py HOST:PORT FOLDER`."""

import sys

address, folder = sys.argv[1:]
sys.path.append(folder)
from proton import Message  # noqa: E402
from proton.utils import BlockingConnection  # noqa: E402

connection = BlockingConnection(address, timeout=20)
sender = connection.create_sender("shipments")
for body in ('{"order_id": "a1"}', "ö2".encode()):
    sender.send(
        Message(body=body, durable=True, properties={"order": "a1"}, correlation_id="c1", ttl=0.001)
    )
for _ in range(2):
    sender.send(Message(body="once by AMQP", properties={"_AMQ_DUPL_ID": "known"}, durable=True))
connection.close()
