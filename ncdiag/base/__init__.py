"""What every other part may use: errors, severities, places in a text, patterns, TOML, the cache of definitions."""
