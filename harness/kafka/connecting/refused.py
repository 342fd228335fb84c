"""The error for refused credentials."""


class CredentialsRefused(RuntimeError):
    """A broker refuses the credentials, or fails to identify itself.

    The message names the broker and what to check, without secrets. This is not an `OSError`:
    callers retry those, and a retry would fail again.
    """
