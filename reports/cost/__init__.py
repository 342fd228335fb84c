"""What a measurement of cost says."""
