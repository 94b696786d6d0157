"""Find secrets in texts: passwords, keys, tokens, by their names, their places and their forms."""
