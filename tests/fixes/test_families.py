"""A log lists the addresses of the family that NCCL was told to use: nothing follows for the other one."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource

LOG = """\
s{n}:70:70 [0] NCCL INFO NCCL_SOCKET_FAMILY set by environment to AF_INET
s{n}:70:70 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>
s{n}:70:90 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>
"""
SHOWN = "s1$ ip -br a\nlo   UNKNOWN  127.0.0.1/8 ::1/128\neno4  UP  2001:db8:4:1::1/64 fe80::1234:ff:fe12:1/64\n"


@pytest.mark.parametrize("addresses", ["", SHOWN])
def test_the_family_is_unset_although_the_log_lists_no_address_of_the_other_one(addresses: str) -> None:
    failed = "s1:70:90 [0] NCCL WARN socketStartConnect: Connect to 127.0.0.1<40091> failed : Connection refused\n"
    text = LOG.format(n=1) + LOG.format(n=2) + failed + addresses
    report = diagnose([TextSource.of_bytes("log", text.encode())])
    lists = [found for found in report.findings if found.name == "socket-family-mismatch"]
    assert not addresses or lists
    for found in lists:
        assert [fix.unset for fix in found.fixes if fix.unset] == [("NCCL_SOCKET_FAMILY",)]
        assert not any("127.0.0.1" in sentence for sentence in found.not_offered)
