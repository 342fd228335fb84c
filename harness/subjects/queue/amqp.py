"""Start an AMQP forwarder: `python -m onceproof.harness.subjects.queue.amqp FOLDER TASK`.

FOLDER contains the AMQP client; it is empty if Python finds the client anyway. It comes last on the
path, so that nothing else in it hides our modules.
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
