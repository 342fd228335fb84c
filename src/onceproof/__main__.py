"""The command `onceproof`: signals are heard before anything is imported."""

from __future__ import annotations

from onceproof.interrupts import interruptible


def main() -> None:
    """Run the command that the arguments name, and leave with its exit code."""
    with interruptible():
        from onceproof.cli import main as run_command

        run_command()


if __name__ == "__main__":
    main()
