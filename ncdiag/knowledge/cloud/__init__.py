"""Clouds: whose machine it is, and what its network needs."""
