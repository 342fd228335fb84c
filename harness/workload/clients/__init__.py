"""The programs that send: one file for each client library, a process of its own each."""
