"""NVLink: its links and switches, and the errors that links repair."""
