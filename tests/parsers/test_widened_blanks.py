"""Outputs whose blanks a copy or another tool has widened, and lines that a tool spells in several ways."""

from __future__ import annotations

from typing import Any

from specimens import parsed, sections


def facts(*lines: str, entity: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The fields of the entities of one type, by their keys."""
    found = [o for section in sections(list(lines)) for o in parsed(section).observations]
    return {o.key: dict(o.fields) for o in found if o.entity == entity}


def test_ibdev2netdev_in_columns_and_with_notes_reads_as_it_is_printed() -> None:
    printed = ("mlx5_2 port 1 ==> ens5f0 (Up)", "mlx5_11 port 1 ==> ibs9 (Down)")
    widened = ("mlx5_2   port  1  ==>  ens5f0  (Up)    # storage", "mlx5_11  port  1  ==>  ibs9    (Down)  # rail 4")
    read = facts("$ ibdev2netdev | column -t", *widened, entity="Interface")
    assert read == facts("$ ibdev2netdev", *printed, entity="Interface")
    assert read["ibs9",]["hca"] == "mlx5_11"
    assert read["ibs9",]["running"] is False


def test_ibdev2netdev_in_columns_is_found_without_its_command() -> None:
    assert set(facts("mlx5_0   port  1  ==>  ens1    (Up)", "mlx5_10  port  1  ==>  ens1f1  (Up)", entity="Interface"))


def test_a_title_with_widened_blanks_is_no_column_of_the_matrix() -> None:
    lines = (
        "GPU0    GPU1    CPU    Affinity    NUMA   Affinity",
        "GPU0   X    SYS   0-7   1",
        "GPU1   SYS  X   8-15  0",
    )
    assert facts("$ nvidia-smi topo -m", *lines, entity="Host") == {(): {"nic_labels": {}}}
    gpus = facts("$ nvidia-smi topo -m", *lines, entity="Gpu")
    assert [gpus[n,]["cpu_affinity"] for n in (0, 1)] == ["0-7", "8-15"]
    assert [gpus[n,]["numa_node"] for n in (0, 1)] == [1, 0]


def test_networkd_loses_a_carrier_in_either_case() -> None:
    head = "Mar  3 04:05:0{} node7 systemd-networkd[812]: ib2: {} carrier"
    lines = [head.format(n, word) for n, word in enumerate(("Lost", "lost", "Gained"))]
    found = [o.fields for section in sections(lines) for o in parsed(section).observations if o.entity == "Event"]
    said = [(str(fields["event"]), fields["fields"]["interface"]) for fields in found]
    assert said == [("carrier-lost", "ib2"), ("carrier-lost", "ib2"), ("carrier-gained", "ib2")]


def test_columns_after_glued_cells_are_read_where_a_tab_precedes_them() -> None:
    head = "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity"
    rows = ("GPU0\t X \tNV18\tPXBNODE\t0-7,16-23\t0", "GPU1\tNV18\t X \tNODEPXB0-7\t0")
    gpus = facts("$ nvidia-smi topo -m", head, *rows, entity="Gpu")
    assert (gpus[0,]["cpu_affinity"], gpus[0,]["numa_node"]) == ("0-7,16-23", 0)
    links = facts("$ nvidia-smi topo -m", head, *rows, entity="TopoLink")
    assert [links["GPU0", nic]["level"] for nic in ("NIC0", "NIC1")] == ["PXB", "NODE"]
    assert gpus[1,].get("cpu_affinity") is None


def test_a_note_after_a_value_of_ibv_devinfo_is_no_part_of_it() -> None:
    values = ("hca_id: mlx5_4", "  transport: InfiniBand (0)", "  max_qp_rd_atom: 16{}", "  board_id: MT_0000000223{}")
    noted = [value.format("      # reads in flight") for value in values]
    read = facts("$ ibv_devinfo -v", *noted, entity="Hca")
    assert read == facts("$ ibv_devinfo -v", *(value.format("") for value in values), entity="Hca")
    assert read["mlx5_4",]["reads_per_qp"] == 16
