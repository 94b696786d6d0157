# ruff: noqa: E501  (log lines are as long as they are)
"""A short log with a line of most sorts, written by hand."""

from __future__ import annotations

SAMPLE = """\
a training script says hello
node1:100:100 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth
node1:100:100 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>
NCCL version 2.21.5+cuda12.4
node2:200:200 [0] NCCL INFO Bootstrap : Using veth9:172.17.0.4<0>
node1:100:140 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.7.0.1<0>
node1:100:140 [0] NCCL INFO Using network IB
node2:200:240 [0] NCCL INFO NET/IB : No device found.
node2:200:240 [0] NCCL INFO NET/Socket : Using [0]veth9:172.17.0.4<0> [1]eth0:10.7.0.2<0>
node2:200:240 [0] NCCL INFO Using network Socket
node1:100:140 [0] NCCL INFO ncclCommInitRank comm 0x5d0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c3 - Init START
node2:200:240 [0] NCCL INFO ncclCommInitRank comm 0x6d0 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 3a000 commId 0x7c3 - Init START
node1:100:140 [0] NCCL INFO Channel 00/02 :    0   1
node1:100:140 [0] NCCL INFO Channel 01/02 :    0   1
node1:100:140 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1
node1:100:140 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA
node1:100:140 [0] NCCL INFO Channel 01/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA
node1:100:140 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0
node2:200:240 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/Socket/1node1:100:150 [0] NCCL INFO Connected all rings

node2:200:260 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.7.0.1<40517> failed : Connection refused
node2:200:260 [0] NCCL INFO misc/socket.cc:567 -> 2
node2:200:260 [0] NCCL INFO group.cc:64 -> 2 [Async thread]
node2:200:260 [0] NCCL INFO misc/socket.cc:567 -> 2

node1:100:150 [0] proxy.cc:1 NCCL WARN Something that no release ever printed
Traceback (most recent call last):
"""
