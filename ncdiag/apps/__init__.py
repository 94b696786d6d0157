"""Programs on top of the core, a folder each. The core imports none of them; each is imported by its own name."""
