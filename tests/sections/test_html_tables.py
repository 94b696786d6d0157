"""Tables of web pages become tables with bars."""

from __future__ import annotations

from linear import assert_linear_time

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.trainings import scalings
from ncdiag.text.reading.job import facts_of
from ncdiag.text.sections.html_tables import HtmlTables
from ncdiag.text.sections.line import Line, lines_of

PAGE = """\
Measured on two machines:
<table>
<tr><th colspan=6>network: 100G RDMA<br>batch: 64</th></tr>
<tr><th rowspan=2>machine</th><th rowspan=2>#GPUs</th><th colspan=2>Horovod</th><th colspan=2>Light</th></tr>
<tr><th>speed (img/sec)</th><th>speedup</th><th>speed (img/sec)</th><th>speedup</th></tr>
<tr><td rowspan=2>P100</td><td>1</td><td>400</td><td>-</td><td>401</td><td>-</td></tr>
<tr>
<td>16</td>
<td>6016</td><td>94%</td><td>6150</td><td>96%</td>
</tr>
</table>
That is well.
"""


def test_cells_that_span_others_are_in_each() -> None:
    lines = lines_of(PAGE)
    ((start, end),) = HtmlTables().blocks(lines)
    assert [(line.number, line.text) for line in HtmlTables().removed(lines[start:end])] == [
        (3, "network: 100G RDMA batch: 64"),
        (5, "| machine | #GPUs | Horovod speed (img/sec) | Horovod speedup | Light speed (img/sec) | Light speedup |"),
        (6, "| P100 | 1 | 400 | - | 401 | - |"),
        (7, "| P100 | 16 | 6016 | 94% | 6150 | 96% |"),
    ]


def test_a_table_that_does_not_end_is_none() -> None:
    assert HtmlTables().blocks(lines_of("<table>\n<tr><td>1</td></tr>\n")) == []


def test_the_speeds_of_a_page_are_read() -> None:
    job = facts_of({"text": [PAGE]})
    found = [(each.unit, each.gpus, each.overall) for each in scalings(job, View(job))]
    assert found == [("Horovod speed (img/sec)", 16, 0.94), ("Light speed (img/sec)", 16, 6150 / 16 / 401)]


def test_hostile_tables_cost_no_more_than_their_size() -> None:
    def page(rows: int) -> list[Line]:
        return lines_of("<table>\n" + "<tr><td colspan=999 rowspan=999>x\n" * rows + "</table>\n")

    assert_linear_time(HtmlTables().removed, page, 300)
