"""Who sends what: the records, the producers, their pace."""
