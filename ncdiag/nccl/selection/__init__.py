"""What NCCL would choose: pure functions from facts, settings and a version to a choice with its reasons.

`sockets` chooses IP interfaces, `gid` the GID index of a port, `settings` finds the value of a variable in force. A
choice is returned only when every possibility that the input leaves open leads to the same one; else it is unknown, and
the reasons say which facts are missing.
"""
