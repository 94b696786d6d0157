"""The tables of checks: ``checks.toml`` (`ncdiag check`), ``launch.toml`` and ``compared.toml`` (comparisons)."""
