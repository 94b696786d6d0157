"""The tables of defects: what a private pack changes, and what is said of an entry that is wrong."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ncdiag.base.errors import DefinitionError
from ncdiag.nccl.defects import table
from ncdiag.nccl.defects.entries import Defect
from ncdiag.nccl.vocabulary.features import matches

Run = Callable[..., subprocess.CompletedProcess[bytes]]
ENTRY = """[[defect]]
name = "{name}"
since = "{since}"
fixed = "{fixed}"
what = "loses packets of our switches"
complaint = "{complaint}"
when = {when}
source = "ticket 7"
"""


PXN = '{ uses = ["pxn"] }'


def entry(
    name: str = "site-switches", since: str = "2.20.3", fixed: str = "open", complaint: str = "hangs",
    when: str = '{ uses = ["alltoall"] }',
) -> str:  # fmt: skip
    return ENTRY.format(name=name, since=since, fixed=fixed, complaint=complaint, when=when)


@pytest.fixture
def pack(tmp_path: Path) -> Iterator[Path]:
    """A pack with a folder of tables."""
    (tmp_path / "defects").mkdir()
    yield tmp_path
    table.use(())


def names() -> dict[str, Defect]:
    return {defect.name: defect for defect in table.tables().defects}


def test_a_pack_adds_replaces_and_removes_entries(pack: Path) -> None:
    shipped = names()
    text = f'remove = ["trace-build"]\n{entry()}\n{entry("links-down", fixed="2.99.9", when=PXN)}'
    (pack / "defects" / "site.toml").write_text(text, encoding="utf-8")
    table.use([pack])
    held = names()
    assert held.keys() == (shipped.keys() | {"site-switches"}) - {"trace-build"}
    assert held["links-down"].fixed == "2.99.9"
    table.use(())
    assert names() == shipped


def test_an_entry_of_a_pack_leads_and_is_explained(pack: Path, ncdiag: Run) -> None:
    (pack / "defects" / "site.toml").write_text(entry(), encoding="utf-8")
    log = pack / "log.txt"
    log.write_text(
        "The job hangs. We use all-to-all.\n\nn1:40:40 [0] NCCL INFO NCCL version 2.27.7+cuda12.9\n", encoding="utf-8"
    )
    said = b"NCCL 2.27.7 loses packets of our switches (no release has a fix)"
    assert said in ncdiag("triage", str(log), "--rules", str(pack)).stdout
    assert said not in ncdiag("triage", str(log)).stdout
    assert b"loses packets of our switches" in ncdiag("explain", "2.27.7", "--rules", str(pack)).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry(since="2.9.0", fixed="2.8.3"), "fixed in 2.8.3, which is not after its first release 2.9.0"),
        (entry(since="2.9.0", fixed="2.9.0"), "fixed in 2.9.0, which is not after its first release 2.9.0"),
        (entry() + entry(), "two entries are called 'site-switches'"),
        (entry() + entry("again", since="2.29.2"), "again: 'site-switches' has the same text and condition, and their"),
        (entry(since="unknown", fixed="2.22.3") + entry("again"), "overlap (2.20.3 to open and unknown to 2.22.3)"),
        (entry(since="2.27.7+cuda12.9"), "'2.27.7+cuda12.9' is not a release such as 2.18.3"),
        (entry(fixed="never"), "'never' is not a release such as 2.18.3"),
        (entry(when='{ gpus = ["hoper"] }'), "unknown family of GPUs 'hoper'\n  help: did you mean 'hopper'?"),
        (entry(when='{ uses = ["cuda-graph"] }'), "unknown feature 'cuda-graph'\n  help: did you mean 'cuda-graphs'?"),
        (entry(when='{ gpu = ["hopper"] }'), "unknown field `gpu`\n  help: did you mean 'gpus'?"),
        (entry(complaint="hang"), "complaint: invalid enum value 'hang'"),
        ('[[defect]]\nname = "x"\n', "missing required field"),
        ("[[defect]\n", "not valid TOML"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_refused_with_file_line_and_the_right_word(pack: Path, text: str, said: str) -> None:
    file = pack / "defects" / "site.toml"
    file.write_text(text, encoding="utf-8")
    table.use([pack])
    with pytest.raises(DefinitionError, match=re.escape(said)) as caught:
        table.tables()
    assert re.match(rf"{re.escape(str(file.resolve()))}:[1-9]\d*: ", str(caught.value))


def test_ranges_that_do_not_overlap_and_other_conditions_are_entries_of_their_own(pack: Path) -> None:
    other = entry("with-graphs", when='{ uses = ["cuda-graphs"] }')
    text = entry(fixed="2.24.3") + entry("back-again", since="2.24.3") + other
    (pack / "defects" / "site.toml").write_text(text, encoding="utf-8")
    table.use([pack])
    assert {"site-switches", "back-again", "with-graphs"} <= names().keys()


def test_a_pack_may_replace_a_shipped_entry_but_not_tell_it_again(pack: Path) -> None:
    shipped = next(defect for defect in names().values() if defect.product == "nccl" and not defect.when.parts)
    keys = {"since": shipped.since, "fixed": shipped.fixed, "what": shipped.what.capitalize() + ".", "source": "x"}
    text = "".join(f"{key} = {value!r}\n" for key, value in keys.items())
    file = pack / "defects" / "site.toml"
    file.write_text(f'[[defect]]\nname = "{shipped.name}"\n{text}', encoding="utf-8")
    table.use([pack])
    assert names()[shipped.name].source == "x"
    file.write_text(f'[[defect]]\nname = "mine"\n{text}', encoding="utf-8")
    table.use(())
    table._with.cache_clear()  # the file has changed
    table.use([pack])
    with pytest.raises(
        DefinitionError, match=f"mine: '{shipped.name}' has the same text.*\n.*call it '{shipped.name}'"
    ):
        table.tables()
    file.write_text(f'remove = ["{shipped.name}"]\n[[defect]]\nname = "mine"\n{text}', encoding="utf-8")
    table._with.cache_clear()
    assert "mine" in names()


@pytest.mark.parametrize(
    ("value", "wanted", "fits"),
    [
        ("2", ">=2", True), ("1", ">=2", False), ("1m", ">=1048576", True), ("512k", ">=1048576", False),
        ("many", ">=2", False), ("Ring", "set", True), ("", "set", False), ("0", "LOC|0", True),
        ("PIX", "LOC|0", False), ("0", "!1", True), ("1", "!1", False), ("^ll128", "^LL128", True),
        ("INIT,TUNING", "*TUNING*|*ALL*", True), ("INIT", "*TUNING*|*ALL*", False),
    ],
)  # fmt: skip
def test_values_of_variables_are_compared(value: str, wanted: str, fits: bool) -> None:
    assert matches(value, wanted) is fits


def test_each_shipped_table_says_when_it_was_checked() -> None:
    held = table.tables()
    kinds = {defect.product for defect in held.defects}
    assert {"nccl-2.8", "nccl-open", "rccl", "plugins", "driver", "pytorch"} <= held.checked.keys()
    assert kinds >= {"nccl", "rccl", "aws-ofi-nccl", "pytorch", "driver"}
    days = [*held.checked.values(), *(minimum.checked for minimum in held.minimums)]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d", day) for day in days)
    assert all(minimum.source for minimum in held.minimums)
