"""The page of a lab or a run in a browser: a server on loopback, and what the page is made of."""
