"""Programs on top of the core, one folder each. The core imports none of them; each is imported by its full name."""
