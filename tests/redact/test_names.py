"""Names and addresses get stand-ins that hang together as before; what names nobody stays."""

from __future__ import annotations

import ipaddress
import re

import pytest
from cleaning import KEY, PASTE, clean
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.apps.redact import cleaned, hosts_in
from ncdiag.text.sources.files import TextSource


def test_names_of_hosts_and_users() -> None:
    (made,), used = cleaned([TextSource.of_bytes("/home/alice/gpu07.log", PASTE.encode())], KEY)
    text = b"".join(made.buffers()).decode()
    assert set(used.mapping) >= {"gpu07", "gpu08", "alice"}
    assert not re.search("gpu07|gpu08|alice|10[.]20[.]", text + made.name)
    assert text.count("\n") == PASTE.count("\n")
    assert set(hosts_in([made])) == {used.mapping["gpu07"], used.mapping["gpu08"]}
    assert [len(line) for line in text.split("\n")] == [len(line) for line in PASTE.split("\n")]
    assert f"-w {used.mapping['gpu07'].removesuffix('07')}[07-08] " in text
    assert f"/home/{used.mapping['alice']}/run" in text


NAMED = """\
n-a07.dc3.birke.example:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.2<0>
n-a07:1:1 [0] NCCL WARN Got it from peer 10.7.0.3<4711> localGid ::ffff:10.7.0.2 remoteGidsfe80::526b:4bff:fea1:b2c3
mlx5_0 1 0 fe80:0000:0000:0000:526b:4bff:fea1:b2c3 v1
n-a08:1:1 [0] NCCL WARN peer n-a09.dc3.birke.example<40000>
File "/scratch/ulmer/proj/train.py", line 3
File "/mnt/beegfs/eibe/x.py", line 4
C:\\Users\\ulmer\\x
s3://birke-checkpoints/llm/ckpt
torchrun --master_addr n-a10 --master_port 29500
NodeList=n-a[07-10]
ssh n-a11
Warning: Permanently added 'n-a12,10.7.0.9' (ECDSA) to the list
slurmstepd: error: *** STEP 991.0 ON n-a13 CANCELLED AT ***
[n-a14:12345] *** Process received signal ***
srun: error: n-a16: task 7: Exited with exit code 1
srun: error: n-a_17: tasks 8-15: Killed
http://n-a15.birke.example:8080/x
mail ulmer@birke.example
"""


def test_names_are_replaced_wherever_they_stand() -> None:
    (made,), used = cleaned([TextSource.of_bytes("paste.txt", NAMED.encode())], KEY)
    text = b"".join(made.buffers()).decode()
    assert not re.search(r"n-a\d|n-a\[|birke|ulmer|eibe|10[.]7[.]", text)
    for kept in ("/ckpt", "/proj/train.py", ".example:8080/x", "[07-10]", "<40000>", "llm", "eth0:10."):
        assert kept in text
    assert [len(line) for line in text.split("\n")] == [len(line) for line in NAMED.split("\n")]
    [tail] = re.findall("remoteGidsfe80::526b:4bff:fe(.*)", text)
    assert f":fe{tail} v1" in text, "glued or not, an address is the same"
    assert tail != "a1:b2c3"
    assert set(used.replaced()) >= {"host name", "user name", "domain", "bucket name", "IPv4 address", "IPv6 address"}


def test_names_stay_sorted_and_in_their_sets() -> None:
    names = ["cn-b2", "cn-b10", "cn-a3", "login1", "dgx-07", "zeta-1"]
    made = clean("\n".join(names), *names).split("\n")
    assert sorted(range(6), key=names.__getitem__) == sorted(range(6), key=made.__getitem__)
    assert [len(name) for name in made] == [len(name) for name in names]
    assert not set(names) & set(made)


@examples(200)
@given(number=st.integers(0x0A000100, 0x0AFFFEFE), other=st.integers(0x2001 << 112, (0x2001 << 112) + (1 << 100)))
def test_addresses_keep_their_length(number: int, other: int) -> None:
    texts = [str(ipaddress.IPv4Address(number)), str(ipaddress.IPv6Address(other))]
    made = clean(" ".join(texts)).split()
    assert [len(text) for text in made] == [len(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-cudnn-cu12==9.1.0.70 libcudnn.so.8.9.2.26 cudnn 8.9.2.26 MLNX_OFED version 5.8.1.1",
        "https://docs.nvidia.com/x https://github.com/NVIDIA/nccl nvcr.io/nvidia/pytorch:24.01-py3",
        "commId 0x7e1f0c42a1b2c3d4 comm 0x55d0a1b2c3d4e5f6 commit 0123456789abcdef",
        "torch.distributed.run threading.local self.net model.com.weight",
        "srun: error: fetch_config: DNS SRV lookup failed",
    ],
)
def test_what_names_nobody_stays(text: str) -> None:
    assert clean(text, "gpu-a07") == text


@pytest.mark.parametrize(
    "text",
    [
        "mlx5_0 mlx5_bond_0 bond0.100@bond0 veth5a3f@if12 ib0 eth0 docker0 GPU0",
        "127.0.0.1 0.0.0.0 255.255.255.0 224.0.0.1 169.254.3.4 :: ::1 ff02::1",
        "00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 0000:3b:00.0 12:34:56 2.18.3+cuda12.1 c10::Error std::vector",
        "NCCL_IB_HCA=mlx5_0:1 NCCL_IB_PKEY=0x8001 commHash 1234567890123456",
        "root@x.y~ /home/ubuntu/x",
        "HCA fe80:0000:0000:0000:0000:0000:0000:0000 0xffffffffffffffff",
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    assert clean(text, "node", "rank", "localhost", "10.0.0.1") == text


ADDRESSES = st.one_of(
    st.integers(0x0A000100, 0x0AFFFEFE), st.integers(0xC0A80101, 0xC0A8FEFE), st.integers(0xAC100101, 0xAC1FFEFE)
).map(lambda n: str(ipaddress.IPv4Address(n)))
PRIVATE = [ipaddress.ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]


@examples(200)
@given(one=ADDRESSES, two=ADDRESSES, length=st.integers(8, 24))
def test_subnets_and_private_ranges_stay(one: str, two: str, length: int) -> None:
    made = clean(f"{one} {two}/{length}").replace(f"/{length}", "").split()
    for before, after in zip((one, two), made, strict=True):
        assert before.rsplit(".", 1)[1] == after.rsplit(".", 1)[1]
        for network in PRIVATE:
            assert (ipaddress.ip_address(before) in network) is (ipaddress.ip_address(after) in network)
    usual = [part for address in (one, two) for part in address.split(".")[2:3] if part not in {"0", "255"}]
    if len(usual) == 2:
        made = clean(f"{one} {two}").split()
        shared = [int(ipaddress.ip_address(a)) ^ int(ipaddress.ip_address(b)) for a, b in ((one, two), tuple(made))]
        assert shared[0].bit_length() == shared[1].bit_length() or shared[0] >> 8 == shared[1] >> 8 == 0


@examples(60)
@given(number=st.integers(0x0A000100, 0x0AFFFEFE), length=st.integers(9, 24))
def test_networks_stay_networks(number: int, length: int) -> None:
    network = ipaddress.ip_network((number >> (32 - length) << (32 - length), length))
    made = ipaddress.ip_network(clean(str(network)))
    assert made.prefixlen == length


@pytest.mark.parametrize(
    ("network", "inside"),
    [
        ("2001:db8:12:ab00::/56", "2001:db8:12:abcd::7"),
        ("fd12:3456:789a:1::/64", "fd12:3456:789a:1:506b:4bff:fea1:b2c3"),
        ("2001:db8::/32", "2001:db8:5::1"),
        ("fe80::/10", "fe80::506b:4bff:fea1:b2c3"),
    ],
)
def test_networks_of_ipv6_stay_networks(network: str, inside: str) -> None:
    made = clean(f"{network} {inside}").split()
    assert ipaddress.ip_address(made[1]) in ipaddress.ip_network(made[0])
    assert ipaddress.ip_network(made[0]).prefixlen == ipaddress.ip_network(network).prefixlen
    assert (made[0] == network) is (network == "fe80::/10")


@pytest.mark.parametrize("ip", ["10.20.30.7", "fe80::526b:4bff:fea1:b2c3", "2001:db8:12:ab00::7"])
def test_an_address_is_the_same_with_all_that_stands_around_it(ip: str) -> None:
    made = clean(ip)
    assert made != ip
    around = f"eth0:{ip}<0> [0]bond0:{ip}%bond0<0> {ip}/16 {ip}/24 [{ip}] ={ip}, ip {ip}"
    assert clean(around) == around.replace(ip, made)


def test_an_address_is_the_same_in_all_its_forms() -> None:
    made = clean("10.20.30.7 ::ffff:10.20.30.7 0000:0000:0000:0000:0000:ffff:0a14:1e07").split()
    address = ipaddress.ip_address(made[0])
    assert str(address) != "10.20.30.7"
    assert made[1] == f"::ffff:{address}"
    assert ipaddress.IPv6Address(made[2]).ipv4_mapped == address


def test_an_address_in_a_gid_in_decimal_is_the_same() -> None:
    """As perftest prints it; an entry that is no byte is no address."""
    address, gid = clean("10.20.30.7\n GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:20:30:07").split("\n")
    assert address != "10.20.30.7"
    assert gid.endswith(":255:255:" + ":".join(f"{int(octet):02d}" for octet in address.split(".")))
    odd = " GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:20:30:999"
    assert clean(odd) == odd


def test_hardware_addresses_hang_together() -> None:
    text = "50:6b:4b:a1:b2:c3 fe80::526b:4bff:fea1:b2c3 0x506b4b0300a1b2c3 506b:4b03:00a1:b2c4 50-6B-4B-A1-B2-C3"
    mac, link, guid, port, upper = clean(text).split()
    assert mac != "50:6b:4b:a1:b2:c3"
    assert mac.startswith("50:6b:4b:")
    assert upper == mac.upper().replace(":", "-")
    tail = mac.replace(":", "")[6:]
    assert link == f"fe80::526b:4bff:fe{tail[:2]}:{tail[2:]}"
    assert guid == f"0x506b4b0300{tail}"
    assert port.replace(":", "") == f"506b4b0300{tail[:4]}c4"


def test_uuids_and_serials() -> None:
    text = "GPU-12345678-1234-1234-1234-123456789abc Serial Number : 1320023019042"
    made = clean(text)
    assert clean(text) == made
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} Serial Number : \d{13}", made)
    assert "12345678" not in made
    assert "1320023019042" not in made
