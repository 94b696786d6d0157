"""Derived facts that several areas of rules share and that need nothing but the facts."""
