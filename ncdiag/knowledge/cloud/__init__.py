"""Clouds: the provider of a machine, and the requirements of its network."""
