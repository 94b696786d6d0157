"""What a host runs to try its connections to others: the standard library alone, in the Python of `ncdiag.agent`."""
