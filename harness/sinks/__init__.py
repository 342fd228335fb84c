"""How the auditor reads sinks, one module for each kind."""
