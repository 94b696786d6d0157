"""A picture of each host: which GPUs and NICs hang at which CPU, how far they are from each other, what is wrong.

`plan` says what is in the picture, from facts; `text` and `svg` draw it.
"""
