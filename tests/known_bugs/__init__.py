"""Known bugs of released software, to be found again by generic means: `make known-bugs`."""
