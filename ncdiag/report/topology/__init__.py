"""A picture of each host: the GPUs and NICs at each CPU, the distances between them, and faults.

`plan` computes the picture from facts; `text` and `svg` draw it.
"""
