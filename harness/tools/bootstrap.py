"""Create the project's `.venv` with the system's Python: `python3 harness/tools/bootstrap.py`.

With `--run` it leaves out what only tests, lint and documentation need.

The syntax must also work in Pythons that are too old, so that they can print a message instead of a
syntax error. `virtualenv` does the work.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

MINIMUM = (3, 11)
RUN = "--run"
NEWER = ("python3.13", "python3.12", "python3.11", "python3.14")


def main() -> int:
    """Check this machine, then install; return 0, or 3 if that failed."""
    if sys.version_info < MINIMUM:
        return restart_with_newer()
    problem = what_is_missing(sys.platform)
    if problem:
        return fail(problem)
    return set_up(Path(__file__).resolve().parents[2], development=RUN not in sys.argv[1:])


def fail(message: str) -> int:
    """Print the message, and return 3, the exit status for a broken environment."""
    sys.stderr.write("onceproof: " + message + "\n")
    return 3


def say(message: str) -> None:
    """Print and flush, so that the message precedes pip's output."""
    sys.stdout.write(message + "\n")
    sys.stdout.flush()


def restart_with_newer() -> int:
    """Restart with a newer Python, which some systems have beside `python3`."""
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for name in NEWER:
        try:
            if subprocess.call([name, "-c", check], stderr=subprocess.DEVNULL) == 0:
                os.execvp(name, [name, str(Path(__file__).resolve()), *sys.argv[1:]])
        except OSError:
            continue
    return fail(
        "This is Python " + ".".join(str(part) for part in sys.version_info[:3]) + ", but 3.11 or "
        "newer is needed and PATH has none. Install one, then try again."
    )


def what_is_missing(platform: str) -> str:
    """Return a message if a prerequisite is missing, else an empty string."""
    if not platform.startswith("linux"):
        return "Local runs need Linux; elsewhere use a Linux container or virtual machine."
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        return (
            "This Python cannot create virtual environments: its modules venv and ensurepip are "
            "missing. On Debian and Ubuntu, install them with `apt-get install python"
            + ".".join(str(part) for part in sys.version_info[:2])
            + "-venv`, then try again."
        )
    return ""


def set_up(root: Path, development: bool) -> int:
    # Modules in this folder have common names: they must be importable only in the package.
    sys.path[0] = str(root / "src")
    sys.dont_write_bytecode = True
    from onceproof.harness.tools import java, virtualenv
    from onceproof.harness.tools.error import SetupError

    try:
        java.find()
        wanted = virtualenv.Environment(root=root, development=development)
        if virtualenv.ensure(wanted, say):
            say("Python packages are ready.")
    except SetupError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        return fail("Interrupted. Run the set-up again to continue.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
