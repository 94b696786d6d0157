"""Derived facts that need to know how NCCL chooses; found by `ncdiag.facts.view`."""
