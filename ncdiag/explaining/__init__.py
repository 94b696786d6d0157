"""What things mean: lines of logs, variables, codes, words and files. The answers of ``ncdiag explain``."""
