"""Kinds of blocks and texts by the kinds of their lines: which report what happened, and which only mention it."""
