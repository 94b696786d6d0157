"""Code that runs on a node that has only Python: its modules are joined to one file (`ncdiag.machine.remote`).

They use only the standard library and each other, are compatible with Python 3.6, and are ASCII. The rest of ncdiag
uses them, too, so that inspecting a node gives the same result with and without ncdiag on it.
"""
