"""Cutting a paste: banners, prompts, fences, quoted mail, several hosts, prose; every line has one place."""

from __future__ import annotations

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear_time

from ncdiag.base.spans import Section
from ncdiag.parsers import discover
from ncdiag.text.sections import prompt
from ncdiag.text.sections.cut import SHORTEST, Cutter
from ncdiag.text.sources.files import TextSource

IBSTAT = (
    "CA 'mlx5_0'\n\tCA type: MT4123\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n"
    "\t\tPhysical state: LinkUp\n\t\tRate: 200\n\t\tLink layer: InfiniBand"
)
LSMOD = (
    f"Module                  Size  Used by\n{'nvidia_peermem':<23}16384  0\n"
    "ib_core               393216  1 nvidia_peermem"
)
LINK = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000"


def cut(text: str) -> list[Section]:
    source = TextSource.of_bytes("paste", text.encode())
    lines = b"".join(source.buffers()).decode().split("\n")
    cutter = Cutter("paste", discover())
    cutter.feed(enumerate(lines, 1))
    return cutter.finish()


def kinds(text: str) -> list[tuple[str, str | None]]:
    """Kind and host of the sections that are not text."""
    return [(section.kind, section.host) for section in cut(text) if section.kind != "text"]


def each_line(mark: str, text: str) -> str:
    return "\n".join(mark + line for line in text.split("\n"))


TWO_HOSTS = [("lsmod", "n1"), ("ibstat", "n2")]


@pytest.mark.parametrize(
    "text",
    [
        f"===== n1 =====\n{LSMOD}\n===== n2 =====\n{IBSTAT}",
        f"=== host: n1 ===\n{LSMOD}\n=== host: n2 ===\n{IBSTAT}",
        f"#### n1 ####\n{LSMOD}\n\n#### n2 ####\n{IBSTAT}",
        f"*** n1 ***\n{LSMOD}\n*** n2 ***\n{IBSTAT}",
        f"--- n1: lsmod ---\n{LSMOD}\n--- n2: ibstat ---\n{IBSTAT}",
        f"----------------\nn1\n----------------\n{LSMOD}\n----------------\nn2\n----------------\n{IBSTAT}",
        f"==> n1/lsmod.txt <==\n{LSMOD}\n\n==> n2/ibstat.txt <==\n{IBSTAT}",
        f"host: n1\n{LSMOD}\nhost: n2\n{IBSTAT}",
        f"$ hostname\nn1\n$ lsmod\n{LSMOD}\n$ hostname\nn2\n$ ibstat\n{IBSTAT}",
        f"# hostname -f\nn1.example.org\n# lsmod\n{LSMOD}\n# uname -n\nn2\n# ibstat\n{IBSTAT}",
        f"$ cat /etc/hostname\nn1\n\n$ lsmod\n{LSMOD}\n\n$ hostnamectl hostname\nn2\n$ ibstat\n{IBSTAT}",
        f"root@n1:~# lsmod\n{LSMOD}\nroot@n2:~# ibstat\n{IBSTAT}",
        f"[root@n1 ~]# lsmod\n{LSMOD}\n[root@n2 ~]# ibstat\n{IBSTAT}",
        f"[root@n1 ~]#lsmod\n{LSMOD}\n[root@n2 ~]#ibstat\n{IBSTAT}",
        f"[12:30:01] root@n1:~# lsmod\n{LSMOD}\n[12:31] root@n2:~# ibstat\n{IBSTAT}",
        f"(base) u@n1:/work$ lsmod\n{LSMOD}\n(base) u@n2:/work$ ibstat\n{IBSTAT}\n(base) u@n2:/work$ ",
        f"u@n1.example.org:~$ lsmod\n{LSMOD}\nu@n2.example.org:~$ ibstat\n{IBSTAT}",
        f"$ ssh n1 lsmod\n{LSMOD}\n$ ssh -p 22 root@n2 /usr/sbin/ibstat\n{IBSTAT}",
        f"u@login:~$ ssh n1 'lsmod'\n{LSMOD}\nu@login:~$ ssh n2 \"ibstat\"\n{IBSTAT}",
        f"$ kubectl exec n1 -- lsmod\n{LSMOD}\n$ kubectl exec -it n2 -c main -- ibstat\n{IBSTAT}",
        f"{each_line('n1: ', LSMOD)}\n{each_line('n2: ', IBSTAT)}",
        f"===== n1 =====\n$ lsmod\n{LSMOD}\n===== n2 =====\n$ ibstat\n{IBSTAT}",
        f"> ===== n1 =====\n{each_line('> ', LSMOD)}\n> ===== n2 =====\n{each_line('> ', IBSTAT)}",
        f"n1 | CHANGED | rc=0 >>\n{LSMOD}\nn2.example.org | FAILED! | rc=1 >>\n{IBSTAT}",
        f"[1] 10:01:02 [SUCCESS] n1\n{LSMOD}\n[2] 10:01:03 [SUCCESS] root@n2\n{IBSTAT}",
        f"n1$ lsmod\n{LSMOD}\n[n2]# ibstat\n{IBSTAT}\n#",
        f"n1:~ # lsmod\n{LSMOD}\nn2:/root # ibstat\n{IBSTAT}\nn2:~ # ",
        (
            f"\u250c\u2500\u2500(root\u327fn1)-[~]\n\u2514\u2500# lsmod\n{LSMOD}\n"
            f"\u250c\u2500\u2500(root\u327fn2)-[~]\n\u2514\u2500# ibstat\n{IBSTAT}"
        ),
        f"    u@n1:~$ lsmod\n{each_line('    ', LSMOD)}\n    u@n2:~$ ibstat\n{each_line('    ', IBSTAT)}",
    ],
)
def test_several_hosts_in_one_paste(text: str) -> None:
    assert kinds(text) == TWO_HOSTS


@pytest.mark.parametrize(
    "text",
    [
        IBSTAT,
        f"\n\n{IBSTAT}\n\n",
        f"$ ibstat\n{IBSTAT}",
        f"$ibstat\n{IBSTAT}",
        f"# ibstat\n{IBSTAT}",
        f"#ibstat\n{IBSTAT}",
        f"$ sudo ibstat\n{IBSTAT}",
        f"sh-5.1# ibstat\n{IBSTAT}",
        f"\u279c  ~ ibstat\n{IBSTAT}",
        f"\u279c  train git:(main) \u2717 sudo LANG=C ibstat\n{IBSTAT}",
        f"$ timeout 10s nohup /usr/sbin/ibstat\n{IBSTAT}",
        f"$ ip netns exec blue ibstat\n{IBSTAT}",
        f"$ pdsh -w n7 ibstat\n{each_line('n7: ', IBSTAT)}",
        each_line("2026-01-02T03:04:05.123456789Z ", IBSTAT),
        each_line("2026-01-02T03:04:05.1Z stdout F ", IBSTAT),
        each_line("2026-01-02T03:04:05Z [pod/w-0/main] ", IBSTAT),
        each_line("trainer-1  | ", IBSTAT),
        f"\u276f ibstat\n{IBSTAT}",
        f"## ibstat\n\n{IBSTAT}",
        f"**ibstat**\n{IBSTAT}",
        f"`ibstat`:\n{IBSTAT}",
        f"Output of ibstat:\n{IBSTAT}",
        f"```\n{IBSTAT}\n```",
        f"```console\n$ ibstat\n{IBSTAT}\n```\nThanks!",
        f"~~~\n{IBSTAT}\n~~~",
        each_line("> ", IBSTAT),
        each_line(">", IBSTAT),
        each_line(">> ", IBSTAT),
        each_line("> > ", IBSTAT),
        each_line("    ", IBSTAT),
        each_line("  ", IBSTAT.replace("\t", "    ")),
        each_line("[pod/w-0/main] ", IBSTAT),
        each_line("[1,0]<stdout>:", IBSTAT),
        IBSTAT.replace("\t", "        "),
        IBSTAT.replace("\t", "    "),
        IBSTAT.replace("\t", ""),
        IBSTAT.replace(" ", "\u00a0"),
        IBSTAT.replace("\t", "\u00a0\u00a0\u00a0\u00a0"),
        IBSTAT.replace("\n", "\r\n"),
        IBSTAT.replace("\n", "\n\n"),
        f"I ran it on the login node:\n{IBSTAT}\nAny idea?",
        f"> Please send ibstat.\n\nHere it is:\n\n{IBSTAT}\n\nKind regards,\nSam",
        f"On Tue, 3 Jan 2023, Kim wrote:\n> hello\n{each_line('> ', IBSTAT)}\n>\n> bye\nLook at the port.",
    ],
)
def test_one_output_however_it_is_dressed(text: str) -> None:
    found = [section for section in cut(text) if section.kind != "text"]
    assert [section.kind for section in found] == ["ibstat"]
    observed = discover()["ibstat"].parse(found[0]).observations
    port = next(o for o in observed if o.entity == "Port")
    assert (port.fields["state"], port.fields["rate_gbps"]) == ("active", 200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"I ran\n{LSMOD}\nand then\n{IBSTAT}\nand nothing else", ["lsmod", "ibstat"]),
        (f"```\n{LSMOD}\n```\n```\n{IBSTAT}\n```", ["lsmod", "ibstat"]),
        (f"{LSMOD}\n{IBSTAT}\n{LINK}", ["lsmod", "ibstat", "interfaces"]),
        (f"{LSMOD}\n\n\n\n{LSMOD}", ["lsmod", "lsmod"]),
        (f"$ lsmod\n{LSMOD}\n$ date\nMon Jan  2 10:00:00 UTC 2023\n$ ibstat\n{IBSTAT}", ["lsmod", "ibstat"]),
        (f"> {LINK}\n\nno, it is\n\n{LSMOD}", ["interfaces", "lsmod"]),
    ],
)
def test_outputs_with_prose_between(text: str, expected: list[str]) -> None:
    assert [section.kind for section in cut(text) if section.kind != "text"] == expected


@pytest.mark.parametrize(
    "text",
    [
        f"-----------\nResults\n-----------\n{LSMOD}",  # a heading, no host
        f"---TOPO---\n{LSMOD}",
        f"$ lsmod\n{LSMOD}",
        f"$ docker exec -it train lsmod\n{LSMOD}",
        f"$ hostname\nhostname: command not found\n$ lsmod\n{LSMOD}",
        f"$ hostname\n\nthe log follows\n$ lsmod\n{LSMOD}",
        f"$ hostname -f\nlocalhost.localdomain\n$ lsmod\n{LSMOD}",
        f"hostname\nn1\n{LSMOD}",  # a person's words
    ],
)
def test_what_names_no_host(text: str) -> None:
    assert kinds(text) == [("lsmod", None)]


def test_a_host_between_rules_ends_the_one_before() -> None:
    rule = "----------------"
    text = f"{rule}\nn1\n{rule}\n{LSMOD}\n{rule}\nn[2-3] (2)\n{rule}\n{LSMOD}"
    assert kinds(text) == [("lsmod", "n1"), ("lsmod", "n2"), ("lsmod", "n3")]


@pytest.mark.parametrize(
    "command",
    [
        "kubectl logs w-1",
        "kubectl -n team logs pod/w-1 -c main --tail=40",
        "oc logs --since 1h -f w-1 | grep -v INFO",
    ],
)
def test_a_log_that_kubectl_shows_is_that_of_its_pod(command: str) -> None:
    text = f"[me@login ~]$ {command}\n{LSMOD}\n[me@login ~]$ lsmod\n{LSMOD}"
    assert kinds(text) == [("lsmod", "w-1"), ("lsmod", "login")]


@pytest.mark.parametrize("command", ["kubectl logs -l app=w", "kubectl logs job/w", "kubectl get pods", "logs w-1"])
def test_other_commands_name_no_pod(command: str) -> None:
    assert kinds(f"[me@login ~]$ {command}\n{LSMOD}") == [("lsmod", "login")]


def test_hosts_that_share_an_output_each_printed_it() -> None:
    rule = "----------------"
    text = f"{rule}\nn[08-09,11],login\n{rule}\n{LSMOD}\nNVRM: a line of the kernel\n{rule}\nn10\n{rule}\n{LSMOD}"
    assert kinds(text) == [("lsmod", name) for name in ("n08", "n09", "n11", "login", "n10")]
    assert {section.host for section in cut(text) if section.kind == "text"} == {None}
    many = [host for _, host in kinds(f"{rule}\nn[0001-9999]\n{rule}\n{LSMOD}")]
    assert many[0] == "n0001"
    assert len(many) < 100


def test_a_line_held_back_for_a_rule_is_not_lost() -> None:
    rule = "-" * 20
    for text in (f"{rule}\nn1", f"{rule}\nn1\nmore", f"{rule}\nn1\n{rule[:3]}", f"{rule}\n{LSMOD}"):
        lines = [line for section in cut(text) for line in section.lines]
        assert lines == text.split("\n")


def test_outputs_of_several_hosts_mixed_line_by_line() -> None:
    lines = [f"{host}: {line}" for line in IBSTAT.split("\n") for host in ("n1", "n2", "n3")]
    found = [s for s in cut("\n".join(["$ pdsh -w n[1-3] ibstat", *lines, "Thanks!"])) if s.kind != "text"]
    assert [(s.kind, s.host, s.lines) for s in found] == [
        ("ibstat", f"n{n}", tuple(IBSTAT.split("\n"))) for n in (1, 2, 3)
    ]
    ranks = [f"[1,{rank}]<stdout>:{line}" for line in LSMOD.split("\n") for rank in (0, 1)]
    assert [s.lines for s in cut("\n".join(ranks))] == [tuple(LSMOD.split("\n"))] * 2


@pytest.mark.parametrize("label", ["Node {}:", "## node {}", "**Host {}**", "On machine #{}:", "Server {} (new)"])
def test_a_persons_label_of_a_machine_heads_its_outputs(label: str) -> None:
    first, second = kinds(f"{label.format(1)}\n{LSMOD}\n{label.format(2)}\n{IBSTAT}")
    assert first[0] == "lsmod"
    assert second[0] == "ibstat"
    assert first[1] is not None
    assert second[1] == first[1].replace("1", "2")


GIDS = "GID[  0]:\t\tfe80:0000:0000:0000:0e42:a1ff:fe11:2233\nGID[  1]:\t\t0000:0000:0000:0000:0000:ffff:0a46:0233"
SHOWN = (
    "DEV     PORT    INDEX   GID                                     IPv4            VER     DEV\n"
    "mlx5_0  1       1       0000:0000:0000:0000:0000:ffff:0a46:0233 10.70.2.51      v2      ens2np0"
)


@pytest.mark.parametrize("form", ["{}:\n{}\n", "{}:\n```\n{}\n```\n", "`{}`:\n\n{}\n\n", "**{}:**\n{}\n"])
@pytest.mark.parametrize(("kind", "output"), [("ibv_devinfo", GIDS), ("show_gids", SHOWN), ("lsmod", LSMOD)])
def test_a_name_alone_above_an_output_is_its_host(form: str, kind: str, output: str) -> None:
    text = form.format("ra04", output) + form.format("login12", output)
    assert kinds(text) == [(kind, "ra04"), (kind, "login12")]


@pytest.mark.parametrize(
    "above",
    ["step1:", "config2:", "cu121:", "exp03:", "roce0:", "numa1:", "ubuntu22:", "h100:", "p2p:", "ra04: it fails",
     "note:", "ra04:\nthe table follows", "ra04:\n\n\n\n"],
)  # fmt: skip
def test_other_words_above_an_output_are_no_host(above: str) -> None:
    assert kinds(f"{above}\n{GIDS}") == [("ibv_devinfo", None)]


def test_a_name_above_a_log_is_no_host() -> None:
    assert {host for _, host in kinds("ra04:\nexport NCCL_DEBUG=INFO\nmpirun -np 2 ./all_reduce_perf")} == {None}


def test_an_empty_answer_is_a_section_and_a_cut_one_is_none() -> None:
    assert kinds("u@n1:~$ lsmod\nu@n1:~$ ") == [("lsmod", "n1")]
    assert kinds("$ lsmod | grep nvidia_peermem\n$") == [("lsmod", None)]
    assert kinds("u@n1:~$ lsmod") == []


def test_a_word_before_a_hash_is_no_host_without_a_known_command() -> None:
    assert kinds(f"see bug# nothing helps\ntotal$ 5 of them\n$ lsmod\n{LSMOD}") == [("lsmod", None)]


def test_line_numbers_are_those_of_the_paste() -> None:
    first, second = (s for s in cut(f"hello\n\n$ lsmod\n{LSMOD}\n\nand\n```\n{IBSTAT}\n```") if s.kind != "text")
    assert (first.first_line, first.last_line, first.command) == (4, 6, "lsmod")
    assert (second.first_line, second.last_line, second.command) == (10, 17, None)
    assert second.number(1) == 11


def test_quoted_text_is_read_without_its_marks() -> None:
    (section,) = cut("> RuntimeError: something\n> > deeper")
    assert section.lines == ("RuntimeError: something", "deeper")


@pytest.mark.parametrize(
    ("line", "command", "host"),
    [
        ("$ ip addr", "ip addr", None),
        ("$nvidia-smi topo -m", "nvidia-smi topo -m", None),
        ("root@gpu7:/home# ls", "ls", "gpu7"),
        ("[u@gpu7 dir]$ ls -l", "ls -l", "gpu7"),
        ("u@gpu7.cluster.example.org:~$ ls", "ls", "gpu7"),
        ("[10:01] u@gpu7:~$ ls", "ls", "gpu7"),
        ("bash-5.1$ ls", "ls", None),
        ("gpu7$ ls", "ls", "gpu7"),
        ("[gpu7]# ls -l", "ls -l", "gpu7"),
    ],
)
def test_prompts(line: str, command: str, host: str | None) -> None:
    echo = prompt.prompt(line)
    assert echo is not None
    assert (echo.command, echo.host) == (command, host)


@pytest.mark.parametrize(
    "line", ["", "$", "$HOME/bin is there", "$1,000", "plain words", "a@b", "u@n1:~$ ", "#SBATCH -N 2", "#!/bin/sh"]
)
def test_what_is_no_prompt(line: str) -> None:
    assert prompt.prompt(line) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ssh n1 lsmod", ("n1", "lsmod")),
        ("ssh -o BatchMode=yes -l root n1.example.org lsmod", ("n1", "lsmod")),
        ("ssh -t u@10.0.0.7 'ip addr'", ("10.0.0.7", "ip addr")),
        ("kubectl exec -n team w-0 -- env", ("w-0", "env")),
        ("kubectl exec pod/w-0 -- env", ("w-0", "env")),
        ("docker exec -it train nvidia-smi", (None, "nvidia-smi")),
        ("ssh n1", (None, "ssh n1")),
        ("lsmod", (None, "lsmod")),
    ],
)
def test_remote_commands(command: str, expected: tuple[str | None, str]) -> None:
    assert prompt.remote(command) == expected


PIECES = st.sampled_from(
    [
        *IBSTAT.split("\n"),
        *LSMOD.split("\n"),
        LINK,
        "    inet 10.0.0.7/24 scope global eth0",
        "",
        " ",
        "```",
        "~~~",
        "===== n1 =====",
        "--------",
        "--------------",
        "n1",
        "$ ibstat",
        "$lsmod",
        "u@n1:~$ ",
        "u@n1:~$ lsmod",
        "$ ssh n2 ibstat",
        "host: n3",
        "## ip addr",
        "> quoted",
        "> > $ lsmod",
        "Thanks!",
        "export NCCL_DEBUG=INFO",
        "#SBATCH -N 2",
        "apiVersion: v1",
        "kind: Pod",
        "mpirun -np 2 \\",
        "  -x A=1 ./a",
        "n1: Module                  Size  Used by",
        "[pod/w/main] CA 'mlx5_1'",
        "vm.swappiness = 1",
    ]
)


def is_dressing(line: str) -> bool:
    """Lines that say where something stands or whose it is, and are in no section."""
    line = prompt.unquote(line) if line.startswith(">") else line
    alone = not line.strip() or prompt.is_fence(line) or prompt.is_rule(line)
    return bool(
        alone
        or prompt.prompt(line)
        or prompt.is_empty_prompt(line)
        or prompt.header(line)
        or prompt.title(line)
        or prompt.banner(line)
    )


@examples(300)
@given(lines=st.lists(PIECES | st.text(max_size=30), max_size=30), skipped=st.sets(st.integers(1, 30), max_size=5))
def test_every_line_has_one_place(lines: list[str], skipped: set[int]) -> None:
    """Also where lines of an NCCL log stood between (numbers that are left out)."""
    fed = [(n, line.replace("\n", " ")) for n, line in enumerate(lines, 1) if n not in skipped]
    cutter = Cutter("paste", discover())
    cutter.feed(fed)
    found = cutter.finish()
    places = [section.number(i) for section in found for i in range(len(section.lines))]
    assert len(places) == len(set(places))
    assert cutter.skipped_lines == 0
    texts = dict(fed)
    assert set(places) <= set(texts)
    for number in set(texts) - set(places):
        assert is_dressing(texts[number]), texts[number]
    for section in found:
        for i, line in enumerate(section.lines):
            assert line.strip() in texts[section.number(i)]


@examples(60)
@given(lines=st.lists(PIECES, max_size=20), at=st.integers(0, 20))
def test_feeding_in_two_parts_changes_nothing(lines: list[str], at: int) -> None:
    numbered = list(enumerate(lines, 1))
    whole, parts = Cutter("paste", discover()), Cutter("paste", discover())
    whole.feed(numbered)
    parts.feed(numbered[:at])
    parts.feed(numbered[at:])
    assert whole.finish() == parts.finish()


@pytest.mark.parametrize("length", [1, 160])
def test_what_is_over_the_limit_is_counted(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncdiag.text.sections.cut.TEXT_LIMIT", 3 * max(length, SHORTEST))
    cutter = Cutter("paste", discover())
    cutter.feed((n, "x" * length) for n in range(1, 11))
    kept = sum(len(section.lines) for section in cutter.finish())
    assert (kept, cutter.skipped_lines) == (3, 7)


@pytest.mark.parametrize("piece", ["> ", "-", "a@", "$ ", "[", "ssh -"])
def test_long_lines_take_linear_time(piece: str) -> None:
    assert_linear_time(cut, lambda size: f"{piece * size}\n{piece * size}x", 8_000)


def test_lines_that_come_again_are_read_like_the_first_time() -> None:
    """Lines that begin nothing are remembered; one between them still begins its section."""
    text = ["loss 0.2", "CA 'mlx5_0'", "\tCA type: MT4129", "loss 0.2", "loss 0.2", "", "loss 0.2"]
    sections = cut("\n".join(text * 3))
    assert [section.kind for section in sections].count("ibstat") == 3
    assert sum(len(section.lines) for section in sections if section.kind == "text") == 12


@pytest.mark.parametrize(
    ("heading", "host"),
    [
        ("dmesg on node2:", "node2"), ("### Output of `dmesg` on host gpu-07.example.org", "gpu-07"),
        ("**dmesg from node2**", "node2"), ("dmesg output on node2", "node2"),
        ("dmesg from yesterday:", None), ("all is well on node2:", None),
    ],
)  # fmt: skip
def test_a_heading_names_command_and_host(heading: str, host: str | None) -> None:
    fault = "[  912331.11] NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus."
    cutter = Cutter("paste", discover())
    cutter.feed(enumerate(["root@node1:~# nproc", "8", "", heading, fault], 1))
    [found] = [section.host for section in cutter.finish() if fault in section.lines]
    assert found == (host or "node1")


def test_an_echoed_command_announces_what_follows_each_time() -> None:
    lines = [(1, "$ some-tool --of-nobody"), (2, "out of the tool")]
    announced = []
    for _ in range(2):  # what is remembered of lines is shared by all texts
        cutter = Cutter("paste", discover())
        cutter.feed(lines)
        announced.append(dict(cutter.announcing))
    assert announced[0] == announced[1] != {}
