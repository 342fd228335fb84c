"""How the auditor looks into sinks: one file each."""
