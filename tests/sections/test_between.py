"""Lines of another program between those of an output do not interrupt it; rows of an output stay where they are."""

from __future__ import annotations

import pytest

from ncdiag.text.sections.between import set_apart
from ncdiag.text.sections.line import lines_of

OUTPUT = ["[root@n1 ~]# ibstat", "CA 'mlx5_0'", "CA type: MT4129", "Number of ports: 1", "Port 1:", "State: Active"]


@pytest.mark.parametrize(
    "between",
    [
        "Epoch 2:  41%|####1     | 41/100 [00:12<00:17,  3.40it/s]",
        "Loading shards: 100%|##########| 3.2k/3.2kB [00:01<00:00]",
        "[W 04:11:09 launch.py:7] waiting for the other nodes",
    ],
)
def test_lines_of_another_program_are_set_apart(between: str) -> None:
    lines = set_apart(lines_of("".join(f"{line}\n{between}\n" for line in OUTPUT)))
    assert [line.text for line in lines] == [*OUTPUT, *[between] * len(OUTPUT)]
    assert [line.number for line in lines] == [1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12]
    assert len({line.stream for line in lines}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{line}\n" for line in OUTPUT),
        "".join(f"{line}\n+-----+-----+\n" for line in OUTPUT),
        "".join(f"GPU {number}\n    Clocks Event Reasons: Active\n" for number in range(9)),
        "".join(f"n1:7:7 [0] NCCL INFO Channel {number}\nn1:7:8 [0] NCCL INFO comm 0x1 done\n" for number in range(9)),
        "warning: this line is twice\n" * 9,
        "10%|# | 1/9 [00:01<00:17]\n" + "a line\n" * 40,
    ],
)
def test_rows_of_an_output_stay(text: str) -> None:
    assert set_apart(lines_of(text)) == lines_of(text)
