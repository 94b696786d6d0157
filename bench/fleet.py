"""A check of very many hosts: merging what was seen of them, judging, comparing and reporting it, stage by stage.

The hosts are generated (`tests/generate/fleet.py`), with ten oddities planted. The seconds are those of the processor.
Run it alone with ``python bench/fleet.py --hosts 1000``.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import NamedTuple, TypeVar

from ncdiag import catalogue
from ncdiag.diagnose import Options, judged
from ncdiag.facts.observe import Observation
from ncdiag.reading.many import read_all
from ncdiag.reading.model import Reading
from ncdiag.report import renderer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from generate.fleet import ODDITIES, fleet

T = TypeVar("T")


class Held(NamedTuple):
    """A host that was looked at, with what was seen of it."""

    name: str
    seen: list[Observation]

    def readings(self, *, alone: bool) -> list[Reading]:
        """Nothing was printed."""
        del alone
        return []

    def not_seen(self) -> list[str]:
        """Everything was seen."""
        return []

    def observations(self) -> list[Observation]:
        """What was seen."""
        return self.seen


def run(hosts: int) -> str:
    """Print the time of each stage; the first screen of the report."""
    gc.disable()  # as the command does
    print(f"{f'a check of {hosts} hosts, {len(ODDITIES)} oddities planted':60}{'CPU s':>10}")
    rules = catalogue.rules(())
    looks = _timed("made", lambda: [Held(node.name, node.observations()) for node in fleet(hosts, *ODDITIES)])
    case = read_all(looks)
    print(f"{'  observations':60}{sum(len(look.seen) for look in looks):>10}")
    print(f"{'  memory for them, MiB':60}{_peak():>10}")
    begin = process_time()
    _, report = _timed("merged, judged and compared", lambda: judged(case, rules, Options(table=True)))
    text = _timed("written", lambda: renderer("text")(report, width=80, detail="screen"))
    print(f"{f'{hosts} hosts merged, compared and judged':60}{process_time() - begin:>10.1f}")
    print(f"{'  lines of the report':60}{text.count(chr(10)):>10}")
    print(f"{'  differences shown':60}{len(report.comparison):>10}")
    print(f"{'  peak memory, MiB':60}{_peak():>10}")
    return text


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _timed(what: str, work: Callable[[], T]) -> T:
    begin = process_time()
    result = work()
    print(f"{what:60}{process_time() - begin:>10.1f}", flush=True)
    return result


def main() -> None:
    """Print the table, and the report when asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hosts", type=int, default=1000, help="hosts of the cluster")
    options.add_argument("--report", action="store_true", help="print the first screen as well")
    given = options.parse_args()
    text = run(given.hosts)
    if given.report:
        print(text)


if __name__ == "__main__":
    main()
