"""A paste says the same in any clothes, one on top of the other in any order; what only looks like clothes stays on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence

import pytest
from tenth import tenth

from ncdiag.facts.observe import Observation
from ncdiag.text.reading.one import read_source
from ncdiag.text.sections.line import Line
from ncdiag.text.sections.undress import DEPTH, LIMIT, Said, gain, joined, undressed
from ncdiag.text.sources.files import TextSource

Dress = Callable[[str], str]

AT = "gpu-a01:2201:2301 [0]"
LOG = f"""\
{AT} NCCL INFO Bootstrap : Using eno1:172.18.40.41<0>
{AT} NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [2]mlx5_2:1/RoCE ; OOB eno1:172.18.40.41<0>

{AT} NCCL INFO Using network IB
{AT} transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error
{AT} include/socket.h:403 NCCL WARN Connect to 172.18.40.42<41873> failed : Connection refused
[rank3]:[E314 11:20:08.123456789 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=57, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600012 milliseconds \
before timing out.
RuntimeError: CUDA error: out of memory
"""
WHERE = {"text", "order", "line_tag", "time", "at"}
"""Fields that tell of the line, or of the moment that its clothes may know better, rather than of what it says."""


def each(form: str) -> Dress:
    """The form holds the line at ``%s``, and perhaps its number before that."""
    return lambda text: "".join(
        f"{form % ((number, line) if form.count('%') > 1 else line)}\n"
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1)
    )


def broken(width: int) -> Dress:
    return lambda text: "".join(
        f"{line[at : at + width]}\n" for line in text.split("\n") for at in range(0, max(len(line), 1), width)
    )


def record(line: str) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-03-02T04:11:09.5Z"}) + "\n"


LAYERS: dict[str, Dress] = {
    "stamp": each("2026-03-02T04:11:09.123456789Z %s"),
    "stamp in brackets": each("[2026-03-02 04:11:09] %s"),
    "container runtime": each("2026-03-02T04:11:09.123456789Z stdout F %s"),
    "GitLab job": each("2026-03-02T04:11:09.123456Z 01O %s"),
    "GitLab job, parts of lines": each("2026-03-02T04:11:09.123456Z 0aO+%s"),
    "GitLab job, errors": each("2026-03-02T04:11:09.123456Z 00E %s"),
    "journal": each("Mar 02 04:11:09 box python3[77]: %s"),
    "glog": each("I0302 04:11:09.123456    77 launch.cc:12] %s"),
    "kubectl": each("[pod/trainer-0/main] %s"),
    "mpirun": each("[1,3]<stdout>:%s"),
    "srun": each("3: %s"),
    "torchrun": each("[default3]:%s"),
    "Ray": each("(Worker pid=2201, ip=172.18.40.41) %s"),
    "pdsh": each("node7: %s"),
    "quote": each("> %s"),
    "line numbers": each("%6d\t%s"),
    "comment": each("# %s"),
    "bullet": each("- %s"),
    "indentation": each("    %s"),
    "pane": each("\u2502 %-400s \u2502"),
    "HTML": lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
}
ALONE: dict[str, Dress] = {
    "Docker": lambda text: "".join(map(record, text.removesuffix("\n").split("\n"))),
    "elements": lambda text: "<pre>" + LAYERS["HTML"](text).replace("\n", "<br>\n") + "</pre>\n",
    "written ends": lambda text: text.replace("\n", r"\n") + "\n",
    "Markdown's escapes": lambda text: text.replace("_", r"\_").replace("[", r"\[").replace("]", r"\]"),
    "broken at 72": broken(72),
    "broken at 100": broken(100),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "no line end": lambda text: text.removesuffix("\n"),
    "hard blanks": lambda text: text.replace(" ", "\u00a0"),
}  # fmt: skip


def observed(text: str) -> tuple[Observation, ...]:
    return read_source(TextSource.of_bytes("paste", text.encode())).observations


def said(text: str) -> list[str]:
    """What is observed, without the places and without the host and rank that clothes name."""
    return sorted(
        json.dumps([o.entity, list(o.key), {k: v for k, v in o.fields.items() if k not in WHERE | {"rank", "pid"}}],
                   sort_keys=True, default=str)
        for o in observed(text)
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain() -> list[str]:
    return said(LOG)


@pytest.mark.parametrize("dress", [*LAYERS.values(), *ALONE.values()], ids=[*LAYERS, *ALONE])
def test_a_log_says_the_same_in_any_clothes(dress: Dress, plain: list[str]) -> None:
    assert len(plain) > 5
    assert said(dress(LOG)) == plain


@pytest.mark.sweep
@pytest.mark.parametrize("inner", LAYERS)
def test_a_log_says_the_same_in_two_layers(inner: str, plain: list[str]) -> None:
    others = tenth(sorted(LAYERS.keys() - {inner}), lambda outer: f"{inner}/{outer}")
    lost = [outer for outer in others if said(LAYERS[outer](LAYERS[inner](LOG))) != plain]
    assert lost == []


ORDERS = list(itertools.permutations(("stamp", "kubectl", "quote", "line numbers")))


@pytest.mark.parametrize("names", ORDERS, ids=" ".join)
def test_the_order_of_layers_does_not_matter(names: tuple[str, ...], plain: list[str]) -> None:
    text = LOG
    for name in names:
        text = LAYERS[name](text)
    assert said(text) == plain


def test_the_numbers_of_lines_stay() -> None:
    plain = sorted(o.span.line for o in observed(LOG))
    for name, dress in LAYERS.items():
        assert sorted(o.span.line for o in observed(dress(LOG))) == plain, name


def settings(text: str) -> list[str]:
    return [str(o.key[0]) for o in observed(text) if o.entity == "Setting"]


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\n# export NCCL_IB_DISABLE=1\nexport NCCL_DEBUG=INFO\n",
        "# export NCCL_IB_DISABLE=1\n",
        "# export NCCL_IB_DISABLE=1\n# export NCCL_P2P_DISABLE=1\n# export NCCL_DEBUG=INFO\n",
        "// export NCCL_IB_DISABLE=1\n// export NCCL_P2P_DISABLE=1\n",
        "* try export NCCL_IB_DISABLE=1\n* or export NCCL_P2P_DISABLE=1\n",
        "-- NCCL_IB_DISABLE=1\n-- NCCL_P2P_DISABLE=1\n",
    ],
)
def test_a_setting_in_a_comment_or_a_list_is_none(text: str) -> None:
    assert not {"NCCL_IB_DISABLE", "NCCL_P2P_DISABLE"} & set(settings(text))


def test_commands_behind_a_prompt_of_root_are_settings() -> None:
    assert settings("root@n1:~# export NCCL_IB_DISABLE=1\n") == ["NCCL_IB_DISABLE"]


MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: trainer-0
spec:
  containers:
  - name: main
    image: registry.example.org/train:7
    resources:
      limits:
        nvidia.com/gpu: 8
    env:
    - name: NCCL_DEBUG
      value: INFO
    - name: NCCL_IB_DISABLE
      value: "1"
"""


def test_entries_of_yaml_are_no_bullets() -> None:
    assert sorted(settings(MANIFEST)) == ["NCCL_DEBUG", "NCCL_IB_DISABLE"]


def test_commented_entries_of_yaml_are_none() -> None:
    lines = MANIFEST.split("\n")
    commented = "\n".join(f"#{line}" if number >= len(lines) - 3 else line for number, line in enumerate(lines))
    assert settings(commented) == ["NCCL_DEBUG"]


def test_indices_of_interfaces_are_no_ranks() -> None:
    text = "".join(
        f"{n}: eth{n}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000\n"
        f"    link/ether 02:00:00:00:00:0{n} brd ff:ff:ff:ff:ff:ff\n"
        for n in range(1, 5)
    )
    assert {o.key[0] for o in observed(text) if o.entity == "Interface"} == {f"eth{n}" for n in range(1, 5)}


def test_hosts_and_ranks_of_clothes_are_facts() -> None:
    line = "RuntimeError: CUDA error: out of memory"
    (found,) = observed(f"(Worker pid=7, ip=10.0.0.7) {line}\n" * 3)
    assert found.host == "10.0.0.7"
    found = next(o for o in observed(f"[1,3]<stdout>:{line}\n[1,3]<stdout>:\n[1,3]<stdout>:bye\n") if o.fields["event"])
    assert found.fields["rank"] == 3


def test_lines_of_several_ranks_in_one_another_are_read_apart() -> None:
    stack = (
        "Traceback (most recent call last):",
        '  File "/srv/train.py", line 3, in <module>',
        "    main()",
        "ValueError: x",
    )
    text = "".join(f"[1,{rank}]<stderr>:{line}\n" for line in stack for rank in range(2))
    raised = [o for o in observed(text) if o.fields.get("event") == "python-exception"]
    assert [o.fields["rank"] for o in raised] == [0, 1]
    assert {o.fields["fields"]["error"] for o in raised} == {"x"}


@pytest.mark.parametrize(
    "text",
    [
        "mlx5_0: state ACTIVE\nmlx5_1: state DOWN\n",
        "CA 'mlx5_0'\n\tCA type: MT4129\n\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n",
        '<system version="1">\n<cpu name="a &lt; b"/>\n</system>\n',
        "",
    ],
)
def test_what_has_no_clothes_stays(text: str) -> None:
    lines = undressed(text, lambda lines, _: frozenset({("x", "", "", "", line.text) for line in lines}))
    assert "\n".join(line.text for line in lines) == text.removesuffix("\n")


def test_layers_come_off_to_a_depth() -> None:
    text = "".join(f"{'- ' * (DEPTH + 2)}{line}\n" for line in ("alpha", "beta"))
    sure = undressed(text, lambda lines, _: frozenset({("x", "", "", "", str(-len(line.text))) for line in lines}))
    assert all(line.text.startswith("- ") for line in sure)


def test_a_long_block_of_lines_that_occurred_before_is_read() -> None:
    head = "Mar 14 10:00:00 node1 kernel: Linux version 6.8\n"
    damaged = "".join(f"Mar 14 10:00:{n} node1 sshd[7]: Accepted key\n" for n in range(100, 104))
    block = "".join(f"Mar 14 10:00:{10 + n % 50} node1 sshd[7]: Accepted key\n" for n in range(300))
    numbers: list[int] = []

    def measure(lines: Sequence[Line], doubtful: bool) -> frozenset[Said]:  # noqa: ARG001  (a callback)
        numbers.append(lines[-1].number)
        return frozenset({("x", "", "", "", line.text) for line in lines})

    lines = undressed(head + damaged + block, measure)
    assert [line.number for line in lines] == list(range(1, 306))
    assert max(numbers) > len((head + damaged).splitlines())
    assert read_source(TextSource.of_bytes("paste.txt", (head + damaged + block).encode())).lines == len(lines)


@pytest.mark.parametrize(
    "beside", ["   8 GPUs per node, as follows\n{}", "{}  17  python train.py\n"], ids=["above", "below"]
)
def test_line_numbers_come_off_beside_a_line_that_begins_with_a_number(beside: str) -> None:
    names = ("NCCL_DEBUG", "NCCL_IB_DISABLE", "NCCL_SOCKET_IFNAME", "NCCL_P2P_DISABLE")
    text = "".join(f"{number:4}  export {name}=1\n" for number, name in enumerate(names, 1))
    found = {each.key[0] for each in observed(beside.format(text)) if each.entity == "Setting"}
    assert found == set(names)


REFUSED = (
    '[mpiexec@n1] HYD_sock_connect (lib/utils/sock.c:209): unable to connect from "n1" to "n2" (Connection refused)'
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (f"It ends at once:\n\n```{REFUSED}\n[mpiexec@n1] main: wait failed\n```\n", 3),
        (f"It ends at once:\n\n```text\n[mpiexec@n1] main: wait failed\n{REFUSED}```\n", 5),
        (f"It ends at once: ```{REFUSED}\n[mpiexec@n1] main: wait failed\n```\n", 1),
        (f"It ends at once:\n```{REFUSED}```\nThe hosts are new.\n", 2),
        (f"It ends at once:\n```text\n{REFUSED}\n```\n", 3),
    ],
    ids=["begin", "end", "sentence", "both", "alone"],
)
def test_a_fence_on_the_line_of_a_message_hides_nothing(text: str, number: int) -> None:
    found = next(each for each in observed(text) if each.fields.get("event") == "mpi-daemon-unreachable")
    assert found.span.line == number
    assert str(found.span.text).startswith("[mpiexec@n1]")


@pytest.mark.parametrize(
    "line", ["```python", '```python title="train.py"', "``` {.bash}", "```c++ {1,3}", "the line ```a b``` fails"]
)
def test_a_language_or_code_in_a_sentence_is_no_line(line: str) -> None:
    assert [each.text for each in undressed(f"{line}\ntext\n", lambda _lines, _doubtful: frozenset())] == [line, "text"]


def test_what_is_gained_and_lost() -> None:
    def value(text: str) -> tuple[str, str, str, str, str]:
        return "Rank", "n1", "7", "name", text

    assert gain(frozenset({value("a")}), frozenset()) == 1
    assert gain(frozenset(), frozenset({value("a")})) == -1
    assert gain(frozenset({value("a and more")}), frozenset({value("a")})) == 0


def test_short_buffers_become_one_and_long_ones_stay() -> None:
    assert list(joined([b"a\n", b"b\n"])) == [b"a\nb\n"]
    long = b"x\n" * LIMIT
    assert list(joined([b"a\n", long, b"b\n"])) == [b"a\n", long, b"b\n"]
    assert list(joined([])) == []
