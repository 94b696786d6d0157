"""Hosts beside each other, and a run beside another. What was not seen is never a difference.

``compared.toml`` says what is compared, `values` reads it of a job, `groups` sorts hosts by it, and `changes` sets two
jobs side by side.
"""
