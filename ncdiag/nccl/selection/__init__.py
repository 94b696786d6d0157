"""What NCCL would choose: pure functions from facts, settings and a version to an answer with its reasons.

`sockets` chooses IP interfaces, `gid` the GID index of a port, `settings` tells which value of a variable is in
force. An answer is given only when every possibility that the input leaves open gives the same one; else it is
unknown, and says what would have to be known.
"""
