"""A job while it runs, and logs while they grow."""
