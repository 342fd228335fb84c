"""The one way in which a broker keeps us out."""


class CredentialsRefused(RuntimeError):
    """A broker does not let us in, or is not who it should be.

    The text names the broker and what to check, and has no secret. It is no `OSError`: those are
    tried again, and this would go wrong again.
    """
