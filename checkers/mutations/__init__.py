"""Building blocks of the mutations in the self-check; anomalies define the mutations themselves."""
