"""Plays ``ib_write_bw`` where there is no RDMA hardware: it has perftest's options and prints perftest's format.

The two sides meet over TCP as those of perftest do; what they print as measured is made up. The file ``rates.json``
beside the program gives Gbit/s by host and device (``n3``, ``mlx5_1``), ``"fail"`` or ``"hang"``.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
from pathlib import Path

REPORT = """\
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : {hca}
 Number of qps   : 4\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    {count}             0.00               {rate:.2f} \t\t     0.046000
---------------------------------------------------------------------------------------
"""


def told(host: str, hca: str) -> float | str:
    """What the run is to show: of the two hosts the worse."""
    rates = json.loads(Path(sys.argv[0]).with_name("rates.json").read_text())
    found: float | str = rates.get(f"{host} {hca}", rates.get(host, rates.get(hca, 391.0)))
    return found


def main() -> int:
    read = argparse.ArgumentParser()
    for short, name in (("-d", "hca"), ("-i", "port"), ("-p", "listen"), ("-s", "size"), ("-q", "qps"), ("-D", "time")):
        read.add_argument(short, dest=name, required=True)
    for flag in ("-F", "--report_gbits"):
        read.add_argument(flag, action="store_true", required=True)
    read.add_argument("server", nargs="?")
    asked = read.parse_args()
    own = told(os.uname().nodename, asked.hca)
    if asked.server is None:
        sys.stdout.write("************************************\n* Waiting for client to connect... *\n")
        with socket.create_server(("", int(asked.listen))) as listening:
            client, _ = listening.accept()
            client.sendall(json.dumps(own).encode())
            client.recv(1)
        return 0
    with socket.create_connection((asked.server, int(asked.listen)), 5) as server:
        rates = [own, json.loads(server.recv(100))]
        if "hang" in rates:
            time.sleep(600)
        if "fail" in rates:
            sys.stderr.write(" Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n")
            return 1
        rate = min(float(one) for one in rates)
        sys.stdout.write(REPORT.format(hca=asked.hca, count=int(rate * 238), rate=rate))
    return 0


if __name__ == "__main__":
    sys.exit(main())
