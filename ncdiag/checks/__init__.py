"""What is checked, as tables: ``checks.toml`` (`ncdiag check`), ``launch.toml`` and ``compared.toml`` (comparisons)."""
