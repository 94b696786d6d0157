"""A check of very many hosts: reading what was seen of them, merging, judging, comparing and reporting it, by stages.

The hosts are generated (`tests/generate/fleet.py`), with ten oddities planted, and come as the lines in which each host
of a sweep says what it saw (``--partial``). The seconds are those of the processor.
Run it alone with ``python bench/fleet.py --hosts 1000``.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

from measure import timed

from ncdiag import catalogue
from ncdiag.diagnose import Options, judged
from ncdiag.report import renderer
from ncdiag.text.reading import partial
from ncdiag.text.reading.case import Case
from ncdiag.text.reading.many import read_all

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from generate.fleet import ODDITIES, fleet


def run(hosts: int) -> str:
    """Print the time of each stage; the first screen of the report."""
    gc.disable()  # as the command does
    print(f"{f'a check of {hosts} hosts, {len(ODDITIES)} oddities planted':60}{'CPU s':>10}")
    rules = catalogue.rules(())
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"  # made by another process, whose memory does not count
        subprocess.run([sys.executable, __file__, "--hosts", str(hosts), "--write", answers], check=True)
        begin = process_time()
        case = timed("read", lambda: _read(answers), process_time)
    print(f"{'  observations':60}{len(case.observations):>10}")
    print(f"{'  memory for them, MiB':60}{_peak():>10}")
    _, report = timed("merged, judged and compared", lambda: judged(case, rules, Options(table=True)), process_time)
    text = timed("written", lambda: renderer("text")(report, width=80, detail="screen"), process_time)
    print(f"{f'{hosts} hosts read, merged, compared and judged':60}{process_time() - begin:>10.1f}")
    print(f"{'  lines of the report':60}{text.count(chr(10)):>10}")
    print(f"{'  differences shown':60}{len(report.comparison):>10}")
    print(f"{'  peak memory, MiB':60}{_peak():>10}")
    return text


def _read(answers: Path) -> Case:
    with answers.open("rb") as lines:
        return read_all(partial.read(lines, answers.name))


def _write(answers: Path, hosts: int) -> None:
    with answers.open("wb") as file:
        file.writelines(partial.written(Case((), tuple(fleet(hosts, *ODDITIES)))))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main() -> None:
    """Print the table, and the report when asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hosts", type=int, default=1000, help="hosts of the cluster")
    options.add_argument("--report", action="store_true", help="print the first screen as well")
    options.add_argument("--write", type=Path, metavar="FILE", help="write what the hosts say, and no more")
    given = options.parse_args()
    if given.write is not None:
        _write(given.write, given.hosts)
        return
    text = run(given.hosts)
    if given.report:
        print(text)


if __name__ == "__main__":
    main()
