"""NCCL's choices on a host, from the facts about it: its interfaces, its settings, and the result."""
