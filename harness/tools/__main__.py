"""Set up the tools without the rest of onceproof.

Run as `python -m onceproof.harness.tools [setup | doctor | lock-jars]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from onceproof.harness.tools import doctor, jar_lock, jars, java, setup
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Ivy
from onceproof.harness.tools.progress import Progress, Step, by_quarters


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an action; return 0, or 3 if it failed."""
    parser = argparse.ArgumentParser(prog="python -m onceproof.harness.tools", description=__doc__)
    actions = {"setup": get_tools, "doctor": examine, "lock-jars": lock_jars}
    parser.add_argument("action", choices=actions, nargs="?", default="setup")
    try:
        return actions[parser.parse_args(arguments).action]()
    except SetupError as error:
        print(f"onceproof: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


def get_tools() -> int:
    started = time.monotonic()
    tools = setup.ensure(_printer(started))
    found = tools.versions() | (tools.stage.versions() if tools.stage else {})
    versions = ", ".join(f"{name} {version}" for name, version in found.items())
    print(f"Tools are ready ({time.monotonic() - started:.1f} s): {versions}.")
    return 0


def examine() -> int:
    findings = doctor.examine()
    for finding in findings:
        print(f"{finding.status:8}{finding.name}: {finding.detail}")
        if finding.advice:
            print(f"{'':8}  {finding.advice}")
    return 3 if any(f.status is doctor.Status.PROBLEM for f in findings) else 0


def lock_jars() -> int:
    pyspark = jar_lock.installed_pyspark()
    for jar_set in jars.relock(Ivy(java=java.find().program, jar=pyspark.ivy), pyspark):
        print(f"{jar_set.title}: {len(jar_set.sums)} jars locked")
    return 0


def _printer(started: float) -> Progress:
    def show(step: Step) -> None:
        if not step.finished:
            print(f"  {time.monotonic() - started:5.1f} s  {step.text}", flush=True)

    return by_quarters(show)


if __name__ == "__main__":
    sys.exit(main())
