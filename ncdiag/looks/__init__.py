"""The table of `ncdiag check`: every look at a host a line, with what it came to (`looks.toml`)."""
