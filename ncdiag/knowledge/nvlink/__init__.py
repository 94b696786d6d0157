"""NVLink: its links and switches, and the errors that they repair."""
