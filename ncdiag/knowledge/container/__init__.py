"""Containers and pods: their resources, and the device files that programs in them may not open."""
