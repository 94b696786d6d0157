"""Compare hosts with each other, and a run with another one. Missing data is never a difference.

``compared.toml`` lists what is compared, `values` reads it from a job, `groups` groups hosts by it, and `changes`
compares two jobs.
"""
