"""What only one area of rules needs to know: its derived facts, a module or a folder for each area of `rules/`."""
