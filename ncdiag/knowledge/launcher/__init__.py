"""Launchers: how a job was started, how far it came, and how its processes ended."""
