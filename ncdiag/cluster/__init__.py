"""Many hosts at once: which ones, by which means, and what came back."""
