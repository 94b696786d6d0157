# ruff: noqa: E501  (log lines are as long as they are)
"""Whole logs through the scanner: ranks, events, mixtures, any cut and any buffer size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from generate import healthy
from generate.sample import SAMPLE
from hypothesis import given
from hypothesis import strategies as st

from ncdiag.facts.observe import Observation, Parsed
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.parsers.nccl_log import Scanner, is_nccl_line, scanner, warn_text
from ncdiag.parsers.nccl_log.glued import separated
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource


def scan(text: str | bytes, *cuts: int) -> Parsed:
    """Scan a text, fed in pieces that end at the line ends after ``cuts``."""
    data = text.encode() if isinstance(text, str) else text
    scanner, start = Scanner("job.log"), 0
    ends = sorted({min((data.find(b"\n", cut) + 1) or len(data), len(data)) for cut in cuts} | {len(data)})
    for end in ends:
        if end > start:
            scanner.feed(data[start:end])
        start = end
    return scanner.finish()


def fields(parsed: Parsed, entity: str, host: str | None = None) -> dict[str, Any]:
    """All fields of the observations of an entity, put together."""
    found: dict[str, Any] = {}
    for observation in parsed.observations:
        if observation.entity == entity and observation.host == host:
            found.update(observation.fields)
    return found


def events(parsed: Parsed, name: str) -> list[Observation]:
    return [o for o in parsed.observations if o.entity == "Event" and o.fields["event"] == name]


def early(*interfaces: str, count: int) -> dict[str, Any]:
    """What a process of NCCL 2.3 tells that finds so many interfaces."""
    at = "gn4:611:690 [2] NCCL INFO"
    listed = [f"{at} NET : Using interface {name}:10.4.0.{index}<0>" for index, name in enumerate(interfaces, 1)]
    lines = [*listed, f"{at} NET/Socket : {count} interfaces found", f"{at} rank 2 nranks 4"]
    return fields(scan("\n".join([*lines, ""])), "Rank", "gn4")


def test_the_first_interface_of_nccl_2_3_is_that_of_the_bootstrap() -> None:
    told = early("lo", "em1", count=2)
    assert [each["name"] for each in told["socket_interfaces"]] == ["lo", "em1"]
    assert told["bootstrap_interface"]["name"] == "lo"
    assert (told["rank"], told["nranks"], told["state"]) == (2, 4, "started")


def test_a_list_of_fewer_interfaces_than_were_found_is_cut_and_its_first_one_unknown() -> None:
    told = early("em1", count=2)
    assert not {"socket_interfaces", "bootstrap_interface"} & told.keys()
    assert told["nranks"] == 4


def test_the_rank_alone_and_its_communicator_of_nccl_2_3_7_are_one() -> None:
    at = "gn4:611:690 [2] NCCL INFO"
    lines = ["rank 2 nranks 4", "comm 0x7f3a rank 2 nranks 4", "comm 0x7f3a rank 2 nranks 4 - COMPLETE"]
    told = fields(scan("".join(f"{at} {line}\n" for line in lines)), "Rank", "gn4")
    assert (told["rank"], told["nranks"], told["state"]) == (2, 4, "ready")


def test_ranks() -> None:
    parsed = scan(SAMPLE)
    first, second = fields(parsed, "Rank", "node1"), fields(parsed, "Rank", "node2")
    assert first["rank"] == 0
    assert first["net"] == "IB"
    assert first["communicator"] == "0x7c3"
    assert first["bus_id"] == "0000:1b:00.0"
    assert first["state"] == "started"
    assert first["transports"] == {"NET/IB/GDRDMA": 2, "NET/IB": 1}
    assert first["nccl_version"] == VersionRange.exact("2.21.5+cuda12.4")
    assert first["net_devices"] == [{"index": 0, "name": "mlx5_0", "port": 1, "link_layer": "RoCE"}]
    assert second["rank"] == 1
    assert second["net"] == "Socket"
    assert second["state"] == "failed"
    assert second["bootstrap_interface"] == {"name": "veth9", "addresses": [{"ip": "172.17.0.4"}]}
    assert [i["name"] for i in second["socket_interfaces"]] == ["veth9", "eth0"]
    assert second["transports"] == {"NET/Socket": 1}
    assert {o.key for o in parsed.observations if o.entity == "Rank"} == {(100, 0), (200, 0)}


def test_each_observation_has_its_own_line_as_evidence() -> None:
    for observation in scan(SAMPLE).observations:
        line = SAMPLE.splitlines()[observation.span.line - 1]
        cut = line.find("node1:100:150")  # the last line has two messages
        assert observation.span.text in {line, line[:cut], line[cut:]}
        if "bootstrap_interface" in observation.fields:
            assert "Bootstrap" in observation.span.text


def test_communicators() -> None:
    assert fields(scan(SAMPLE), "Communicator") == {
        "nranks": 2, "ranks_started": [0, 1], "ranks_ready": [], "open_on": {"0": "node1", "1": "node2"},
    }  # fmt: skip


def test_settings_belong_to_their_process() -> None:
    found = [o for o in scan(SAMPLE).observations if o.entity == "Setting"]
    assert [(o.host, o.key, o.fields["text"], o.standing) for o in found] == [
        ("node1", ("NCCL_SOCKET_IFNAME", 100), "eth", "process")
    ]


def test_events() -> None:
    parsed = scan(SAMPLE)
    (failed,) = events(parsed, "socket-connect-failed")
    assert failed.host == "node2"
    assert failed.fields["rank"] == 1
    assert failed.fields["peer"] == "10.7.0.1"
    assert failed.fields["file"] == "misc/socket.cc"
    assert failed.fields["line"] == 484
    assert failed.fields["order"] == failed.span.line == 21
    assert failed.fields["fields"] == {"peer": "10.7.0.1<40517>", "error": "Connection refused"}
    returns = events(parsed, "error-return")
    assert [(o.fields["file"], o.fields["fields"]["code"], o.fields["count"]) for o in returns] == [
        ("misc/socket.cc", 2, 2), ("group.cc", 2, 1),
    ]  # fmt: skip


def test_an_unknown_warning_is_counted_as_unread() -> None:
    parsed = scan(SAMPLE)
    (unknown,) = events(parsed, "unknown-warn")
    assert parsed.unread == (unknown.span.line - 1,)


def test_a_line_glued_behind_another_is_read() -> None:
    (connected,) = events(scan(SAMPLE), "connected-rings")
    assert connected.host == "node1"


def test_a_log_without_glued_lines_is_not_searched_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line with NCCL's version names NCCL twice, and most processes print one."""
    searched: list[bytes] = []

    def noted(text: bytes, numbers: Sequence[int]) -> tuple[bytes, Sequence[int]] | None:
        searched.append(text)
        return separated(text, numbers)

    monkeypatch.setattr(scanner, "separated", noted)
    job = healthy.Job("2.27.7", "roce")
    lines = [line.encode() for rank in range(job.nranks) for line in healthy.rank_lines(job, rank)]
    assert any(line.count(b"NCCL ") > 1 for line in lines)
    Scanner("job.log").feed(b"\n".join(lines) + b"\n")
    assert searched == []
    Scanner("job.log").feed(b"\n".join([lines[0] + lines[1], *lines[2:]]) + b"\n")
    assert searched


def test_any_division_into_buffers_gives_the_same() -> None:
    whole = scan(SAMPLE)
    for cut in range(0, len(SAMPLE), 41):
        assert scan(SAMPLE, cut) == whole
    assert scan(SAMPLE, *range(len(SAMPLE))) == whole


def test_a_log_cut_anywhere_loses_nothing_of_the_lines_before_the_cut() -> None:
    data = SAMPLE.encode()
    for end in range(len(data)):
        complete = data.rfind(b"\n", 0, end) + 1
        before, cut = scan(data[:complete]), scan(data[:end])
        kept = {(o.entity, o.host, o.fields["text"]) for o in cut.observations if o.entity == "Event"}
        assert {(o.entity, o.host, o.fields["text"]) for o in before.observations if o.entity == "Event"} <= kept
        for host in ("node1", "node2"):
            there, here = fields(before, "Rank", host), fields(cut, "Rank", host)
            assert there.keys() <= here.keys()


@given(st.binary(max_size=400), st.integers(0, len(SAMPLE)))
def test_garbage_in_the_middle_does_no_harm(garbage: bytes, place: int) -> None:
    data = SAMPLE.encode()
    place = data.rfind(b"\n", 0, place) + 1
    clean = b"\n" + garbage.decode("utf-8", "replace").encode() + b"\n"
    parsed = scan(data[:place] + clean + data[place:])
    assert events(parsed, "socket-connect-failed")
    assert fields(parsed, "Rank", "node2")["bootstrap_interface"]["name"] == "veth9"


def test_one_process_with_several_gpus() -> None:
    init = "n1:9:{} [{}] NCCL INFO comm 0x{}0 rank {} nranks 2 cudaDev {} nvmlDev 0 busId 1b000 commId 0x7 - Init COMPLETE\n"
    log = (
        "n1:9:9 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>\n"
        + init.format(11, 0, 1, 0, 0)
        + init.format(12, 1, 2, 1, 1)
    )
    ranks = [o for o in scan(log).observations if o.entity == "Rank"]
    assert {o.key for o in ranks} == {(9, 0), (9, 1)}
    assert {o.fields["rank"] for o in ranks if "rank" in o.fields} == {0, 1}


def test_helper_threads_with_another_device_belong_to_the_rank() -> None:
    log = (
        "n1:9:9 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>\n"
        "n1:9:12 [3] NCCL INFO comm 0x10 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 1b000 commId 0x7 - Init COMPLETE\n"
        "n1:9:15 [0] transport/net_ib.cc:9 NCCL WARN NET/IB : Got async event : port error\n"
    )
    parsed = scan(log)
    assert {o.key for o in parsed.observations if o.entity == "Rank"} == {(9, 3)}
    assert fields(parsed, "Rank", "n1")["bootstrap_interface"]["name"] == "eth0"
    assert events(parsed, "ib-async-event")[0].fields["rank"] == 3


def test_lines_without_host() -> None:
    parsed = scan(
        "misc/ibvwrap.cu:63 NCCL WARN Call to ibv_open_device failed\n [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>\n"
    )
    assert events(parsed, "ib-open-device-failed")[0].fields["file"] == "misc/ibvwrap.cu"
    assert fields(parsed, "Rank")["bootstrap_interface"]["name"] == "eth0"


@pytest.mark.parametrize(
    ("line", "low", "high"),
    [
        ("n:1:1 [0] NCCL INFO Bootstrap : Using [0]eth0:10.7.0.1<0>", (2, 4, 0), (2, 7, 8)),
        ("n:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.7.0.1<0>", (2, 24, 0), (99, 0, 0)),
        ("n:1:1 [0] init.cc:1 NCCL WARN whatever", (2, 0, 0), (2, 25, 1)),
        ("[2025-03-14 09:26:53] n:1:1 [0] init.cc:1 NCCL WARN whatever", (2, 26, 0), (99, 0, 0)),
        ("[2025-03-14 09:26:53] n:1:1 [0] init.cc:1 (f) NCCL WARN whatever", (2, 30, 7), (99, 0, 0)),
        ("n:1:1 [0] NCCL INFO Channel 00 : 0[1b000] -> 1[3a000] via direct shared memory", (2, 0, 0), (2, 12, 12)),
    ],
)
def test_the_dialect_bounds_the_version(line: str, low: tuple[int, ...], high: tuple[int, ...]) -> None:
    version = fields(scan(line + "\n"), "Rank", "n")["nccl_version"]
    assert (version.low, version.high) == (Version(*low), Version(*high))


def test_sockets_listed_before_2_6_do_not_tell_the_network() -> None:
    log = "n:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.7.0.1<0>\nNCCL version {}+cuda10.0\n"
    assert "net" not in fields(scan(log.format("2.4.7")), "Rank", "n")
    assert fields(scan(log.format("2.10.3")), "Rank", "n")["net"] == "Socket"


def test_events_of_one_name_are_capped_and_counted() -> None:
    log = "".join(f"n:1:1 [0] x.cc:1 NCCL WARN no such message {number}\n" for number in range(6000))
    found = events(scan(log), "unknown-warn")
    assert len(found) == 5000
    assert sum(o.fields["count"] for o in found) == 6000


def test_a_version_that_was_cut_off_is_none() -> None:
    log = "n:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>\nn:1:1 [0] NCCL INFO NCCL version 2.19."
    assert fields(scan(log), "Rank", "n")["nccl_version"].text == ""


@pytest.mark.parametrize(("tail", "count"), [("", 1), ("/GDRDMA", 1), ("/GDRDMA/Shared", 1), ("/GD", 0), ("/", 0)])
def test_a_channel_line_cut_within_its_suffix_tells_nothing(tail: str, count: int) -> None:
    line = f"n:1:1 [0] NCCL INFO Channel 01/0 : 3[3] -> 4[0] [receive] via NET/IB/1{tail}\n"
    told = [o.fields["transports"] for o in scan(line).observations if "transports" in o.fields]
    assert len(told) == count


def test_rccl() -> None:
    parsed = scan(
        "n:1:1 [0] NCCL INFO ROCr version 1.18\n"
        "n:1:1 [0] NCCL INFO RCCL version : 2.27.7-HEAD:0d2c4fd\n"
        "HIP version  : 7.0.51831-a3e329ad8\n"
        "ROCm version : 7.0.0.0-38-9428210\n"
    )
    rank = fields(parsed, "Rank", "n")
    assert (rank["library"], str(rank["nccl_version"])) == ("RCCL", "2.27.7")
    assert events(parsed, "rocm-version")[0].fields["fields"] == {"rocm": "7.0.0.0-38-9428210"}


def test_the_release_of_rccl_without_a_prefix() -> None:
    parsed = scan("n:1:1 [0] NCCL INFO ROCr version 1.18\nRCCL version : 2.21.5-HEAD:9a0e6a1\n")
    releases = [str(o.fields["nccl_version"]) for o in parsed.observations if "nccl_version" in o.fields]
    assert "2.21.5" in releases


def test_which_lines_are_ours() -> None:
    ours = [
        b"n:1:1 [0] NCCL INFO x", b"NCCL WARN x", b"NCCL version 2.18.3+cuda12.1", b"x.cu:3 NCCL WARN y",
        b"HIP version  : 7.0.1", b"WARN: Function: f Line: 9: NET/OFI x",
    ]  # fmt: skip
    others = [
        b"", b"RuntimeError: NCCL error in: ../torch/x.cpp:7, unhandled system error", b"export NCCL_DEBUG=INFO",
        b"we use NCCL version 2.18.3 here", b"NCCL is not healthy", b"Hostname : x",
    ]  # fmt: skip
    assert [line for line in ours if not is_nccl_line(line)] == []
    assert [line for line in others if is_nccl_line(line)] == []
    buffer = b"\n".join([ours[0], others[1], *ours, others[2], b""])
    assert Scanner("x").feed(buffer) == [(2, others[1]), (len(ours) + 3, others[2])]
    assert Scanner("x").feed(b"a\n\nb\n") == [(1, b"a"), (2, b""), (3, b"b")]
    assert Scanner("x").feed(b"") == []


def test_a_message_without_prefix() -> None:
    found = warn_text(
        "NET/IB: Got completion from peer 10.0.0.7<45678> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_0"
    )
    assert found is not None
    assert (found.event, found.fields["status"], found.fields["hca"]) == ("ib-completion-error", 12, "mlx5_0")


@pytest.mark.parametrize("release", healthy.RELEASES)
@pytest.mark.parametrize("fabric", healthy.FABRICS)
def test_healthy_logs_of_every_release(release: str, fabric: healthy.Fabric) -> None:
    job = healthy.healthy_job(release, fabric)
    text = healthy.healthy_log(job)
    parsed = scan(text)
    ranks: dict[Any, dict[str, Any]] = {}
    for observation in parsed.observations:
        if observation.entity == "Rank":
            ranks.setdefault((observation.host, *observation.key), {}).update(observation.fields)
    assert parsed.unread == ()
    assert sorted(rank["rank"] for rank in ranks.values()) == list(range(job.nranks))
    net = {"ib": "IB", "roce": "IB", "efa": "AWS Libfabric"}.get(fabric, "Socket")
    for rank in ranks.values():
        assert rank["state"] == "ready"
        assert rank["nranks"] == job.nranks
        assert rank["net"] == net
        assert rank["nccl_version"].text == job.printed
        assert rank["bootstrap_interface"]["name"] == "bond0"
        assert sum(rank["transports"].values()) >= job.channels
    assert [o.fields for o in parsed.observations if o.entity == "Event" and o.fields["level"] != "INFO"] == []
    kinds = {o.fields["kind"] for o in parsed.observations if o.entity == "Event"}
    assert kinds <= {"fact", "harmless"}
    assert scan(text, *range(0, len(text), 997)) == parsed


def test_the_bounds_of_a_dialect_hold_the_release_that_printed_it() -> None:
    for release in healthy.RELEASES:
        text = healthy.healthy_log(healthy.healthy_job(release, "roce"))
        hidden = "".join(line + "\n" for line in text.splitlines() if "NCCL version" not in line)
        version = fields(scan(hidden), "Rank", "trn-11")["nccl_version"]
        exact = Version.parse(release)
        assert exact is not None
        assert version.low <= exact <= version.high


def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    log = tmp_path / "info.log"
    healthy.write_info_log(log, 3, 0.8)
    data = log.read_bytes()
    once, thrice = scan(data, *range(0, len(data), 1 << 18)), scan(data + data[data.rfind(b"\n", 0, 1 << 20) + 1 :])
    assert len(once.observations) == len(thrice.observations)


def test_a_release_told_with_and_without_its_build_is_one() -> None:
    log = (
        "[1,0]<stdout>:n:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>\n"
        "[1,0]<stdout>:NCCL version 2.21.5+cuda12.4\n"
        "[1,0]<stdout>:torch.distributed.DistBackendError: NCCL error in: ../nccl.cpp:1970, internal error, NCCL version 2.21.5\n"
    )
    assert fields(scan(log), "Rank", "n")["nccl_version"].text == "2.21.5+cuda12.4"


@pytest.mark.parametrize(
    "line",
    [
        "n1:1:2 [0] NCCL INFO Using network I\u2f02",
        "n1:1:2 [0] NCCL INFO Bootstrap : Using b\u8e6fnd0:10.0.0.1<0>",
        "n1:1:2 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to b\ufffdnd0",
        "n1:1:2 [0] NCCL INFO NET/IB : Using [0]mlx\u4e005_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/AWS L\u7d69bfabric/0",
        "trn-1\u9931:1:2 [0] NCCL INFO Using network IB",
        "\u9931\u4e00 [0] NCCL INFO Using network IB",
        "n\ufffd:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0",
        "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2",
        "n1:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via NE",
    ],
)
def test_damaged_names_tell_nothing(line: str) -> None:
    """Half of a file in UTF-16 that lost a byte reads as other characters; all names that NCCL prints are ASCII."""
    told = [o for o in scan(line + "\n").observations if o.entity in {"Rank", "Setting", "Event"}]
    assert all(set(o.fields) <= {"library", "rank", "nccl_version"} for o in told), told


@pytest.mark.parametrize(
    "before", ["n1:1:\ufffd2 [0] ", "\u9931\ufffd1:2 [0] ", "n\ufffd:1:2 [\ufffd] ", "\u4e00\ufffd"]
)
def test_a_warning_behind_a_damaged_prefix_is_one_of_an_unknown_process(before: str) -> None:
    text = "NCCL WARN socketStartConnect: Connect to 10.1.2.4<40815> failed : Connection refused\n"
    (event,) = events(scan(before + text), "socket-connect-failed")
    assert event.host is None
    assert event.fields["fields"]["error"] == "Connection refused"
    assert not any(o.entity == "Event" for o in scan(before + text.replace("10.1.2.4", "10.1.\u4e002.4")).observations)


def test_words_of_the_system_may_be_of_any_language() -> None:
    line = "n1:1:2 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.2.4<40815> failed : Verbindungsaufbau abgelehnt \u00e4"
    (event,) = events(scan(line + "\n"), "socket-connect-failed")
    assert event.fields["fields"]["error"].endswith("\u00e4")


def test_a_tag_may_hold_any_character() -> None:
    parsed = scan("worker-0 \u2502 n1:1:2 [0] NCCL INFO Using network IB\n")
    assert fields(parsed, "Rank", "n1")["net"] == "IB"


@pytest.mark.parametrize("tag", ["", "[1,3]<stdout>:", "(RayWorker pid=12) ", "[rank3]: "])
def test_messages_of_several_lines_leave_nothing_unread(tag: str) -> None:
    lines = [
        "n1:1:2 [0] transport/nvls.cc:241 NCCL WARN Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'not permitted'.",
        "This is usually caused by a system or configuration error in the Fabric Manager or NVSwitches.",
        "Disable NVLS (NCCL_NVLS_ENABLE=0) if you wish to avoid this error in the future.",
        "n1:1:2 [0] NCCL WARN NET/Socket : peer 10.0.0.2<4711> message truncated : receiving 8 bytes instead of 4. If you believe your socket network is in healthy state, ",
        "          there may be a mismatch in collective sizes or environment settings (e.g. NCCL_PROTO, NCCL_ALGO) between ranks",
    ]
    reading = read_source(TextSource.of_bytes("job.log", "".join(f"{tag}{line}\n" for line in lines).encode()))
    told = [o.fields["event"] for o in reading.observations if o.entity == "Event"]
    assert (told, reading.unread_lines) == (["nvls-bind-failed", "message-truncated"], 0)
