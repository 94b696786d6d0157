"""Code that a host runs to test its connections to others: standard library only, in the Python of `ncdiag.agent`."""
