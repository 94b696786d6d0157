"""Shared by all other packages: errors, severities, positions in a text, patterns, TOML, the cache of definitions."""
