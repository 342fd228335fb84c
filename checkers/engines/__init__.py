"""Engines: where relations and anomalies are computed. DuckDB, embedded, is the default."""
