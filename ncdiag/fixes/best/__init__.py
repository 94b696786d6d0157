"""The computations of ``best.*``, one function per value; `ncdiag.fixes.values` finds them by folder."""
