"""Ways of sending the workload: which client, with which settings. One file for each client."""
