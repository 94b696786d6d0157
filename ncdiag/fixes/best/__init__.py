"""The computations behind ``best.*``, one function a value; `ncdiag.fixes.values` finds them by folder."""
