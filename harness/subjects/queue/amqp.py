"""Starts a forwarder by AMQP: `python -m onceproof.harness.subjects.queue.amqp FOLDER TASK`.

FOLDER is where the AMQP client is; empty, if Python finds it anyway. Nothing
else that lies there is to be taken for ours, so it comes last.
"""

from __future__ import annotations

import sys


def main() -> None:
    if folder := sys.argv.pop(1):
        sys.path.append(folder)
    from onceproof.harness.subjects.queue.amqp_forwarder import main as forward

    forward()


if __name__ == "__main__":
    main()
