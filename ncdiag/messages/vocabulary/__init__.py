"""Derived facts that several areas of rules share and that need to know the catalogue of messages."""
