"""GPUs: boards and their checks, and the driver that is not loaded."""
