"""Starts, stops or kills a detached program, as a service manager does.

python own_service.py start|stop|kill PIDFILE PROGRAM…
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

action, file, *program = sys.argv[1:]
if action == "start":
    with Path(f"{file}.log").open("ab") as log:
        service = subprocess.Popen(program, start_new_session=True, stdout=log, stderr=log)
    Path(file).write_text(str(service.pid))
else:
    pid = int(Path(file).read_text())
    os.kill(pid, signal.SIGTERM if action == "stop" else signal.SIGKILL)
    stat = Path(f"/proc/{pid}/stat")
    while stat.exists() and ") Z" not in stat.read_text():
        time.sleep(0.01)
