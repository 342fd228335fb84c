"""Every message of a transaction met by every fault, exactly: `make exact-faults`."""
