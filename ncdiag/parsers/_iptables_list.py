"""``iptables -L``: the chains as tables, whose rows are written here as the rules that ``iptables -S`` prints.

Source of the format: iptables iptables/iptables.c (print_header, print_firewall): ``num`` with ``--line-numbers``,
``pkts bytes`` and ``in out`` with ``-v``; protocols are numbers with ``-n`` since 1.8.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex

CHAIN = r"Chain (?P<name>\S{1,64}) \((?:policy (?P<policy>ACCEPT|DROP)\b[^()\n]{0,80}|\d{1,6} references)\)\s*$"
HEADER = (
    r"\s{0,8}(?:num\s{1,10})?(?:pkts\s{1,10}bytes\s{1,10})?target\s{1,20}prot opt (?:in\s{1,20}out\s{1,20})?"
    r"source\s{1,40}destination\s*$"
)
ROW = r"\s{0,12}(?:\d{1,9}[KMGT]?\s{1,12}){0,3}\S{1,64}\s{1,20}[a-z0-9]{1,12}\s{1,8}(?:--|-f|!f)\s{1,20}\S"

_CHAIN, _HEADER, _ROW = lazy_regex(CHAIN), lazy_regex(HEADER), lazy_regex(ROW)
_ANY = frozenset({"0.0.0.0/0", "anywhere", "*", "any", "::/0"})
_PROTOCOLS = {"0": "all", "6": "tcp", "17": "udp", "1": "icmp"}


def is_listing(line: str) -> bool:
    """True for a line of such a table."""
    return any(pattern.match(line) is not None for pattern in (_CHAIN, _HEADER, _ROW))


def as_rules(lines: Sequence[str]) -> Iterator[str]:
    """Each line as ``iptables -S`` prints it; a line that says nothing, or has another form, as it is."""
    chain, columns = "", list[str]()
    for line in lines:
        if found := _CHAIN.match(line):
            chain = found["name"]
            yield f"-P {chain} {found['policy']}" if found["policy"] else f"-N {chain}"
        elif _HEADER.match(line):
            columns = line.split()
            yield ""
        elif chain and columns and _ROW.match(line):
            yield _rule(chain, columns, line)
        else:
            yield line


def _rule(chain: str, columns: Sequence[str], line: str) -> str:
    words = line.split()
    row = dict(zip(columns, words, strict=False))
    rest = words[len(columns) :]
    protocol = _PROTOCOLS.get(row.get("prot", ""), row.get("prot", "all"))
    conditions = [
        f"{option} {value}" for option, name in (("-s", "source"), ("-d", "destination"), ("-i", "in"), ("-o", "out"))
        if (value := row.get(name, "*")) not in _ANY
    ]  # fmt: skip
    if protocol != "all":
        conditions.append(f"-p {protocol}")
    return " ".join([f"-A {chain}", *conditions, *rest, f"-j {row['target']}"])
