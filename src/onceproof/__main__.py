"""Entry point of the command `onceproof`; it handles signals before it imports anything else."""

from __future__ import annotations

from onceproof.interrupts import interruptible


def main() -> None:
    with interruptible():
        from onceproof.entering import enter

        enter()
        from onceproof.cli import main as run_command

        run_command()


if __name__ == "__main__":
    main()
