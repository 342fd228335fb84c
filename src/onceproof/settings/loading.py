"""Reading the settings that hold here and now.

`none` in place of a file means neither file nor environment: what one of
our commands starts is told everything, and must not hear of it a second time.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from onceproof.settings.bad import BadSettings
from onceproof.settings.effective import Effective, effective
from onceproof.settings.files import find, load
from onceproof.settings.known import Known

NONE: Final = "none"


def load_settings(settings: Known, named: str | None) -> Effective:
    """The settings that hold here.

    Args:
        settings: which there are.
        named: a file; `none`; or None: the nearest file.

    Raises:
        BadSettings: a file or a variable cannot be meant; the text says what and where.
    """
    here = Path.cwd()
    if named == NONE:
        return effective(settings, None, {}, here)
    if named is not None and not Path(named).is_file():
        raise BadSettings(
            f"{named} does not exist, or is no file. Give a file with settings, or «none» to do "
            "without."
        )
    file = find(here) if named is None else load(Path(named).absolute())
    return effective(settings, file, os.environ, here)
