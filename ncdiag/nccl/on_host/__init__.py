"""What the facts tell of a host for NCCL's choices: its interfaces, its settings, and what is then chosen."""
