"""One simulation a module: interfaces, GID indices."""
