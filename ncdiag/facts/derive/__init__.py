"""Derived facts, one small function each, a module an area; `ncdiag.facts.view` finds them by folder."""
