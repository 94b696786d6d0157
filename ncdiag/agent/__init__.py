"""What a node runs that has nothing but a Python: its modules make one file (`ncdiag.machine.remote`).

They use the standard library alone, import each other and nothing else of ncdiag, are written in what Python 3.6
accepts, and in ASCII. The rest of ncdiag uses them too: a look at a node is the same thing with and without it.
"""
