"""``nvidia-smi -q -x``: the elements of the XML form, brought to the words of the text form.

Format: nvsmi_device_v11.dtd to v13.dtd of the CUDA driver package: an element a line, groups nested, ``<gpu id=...>``;
an empty list of devices holds the word ``None`` on a line of its own.
The lines are read one by one, so that what comes before a cut is read as well.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex

ELEMENT = (
    r"\s{0,60}(?:<\?xml |<!DOCTYPE nvidia_smi_log "
    r"|</?(?P<group>[a-z][A-Za-z0-9_]{1,60})(?: id=\"(?P<id>[\w:.]{1,32})\")? ?/?>\s*$"
    r"|<(?P<name>[a-z][A-Za-z0-9_]{1,60})>(?P<value>[^<>]{0,300})</[A-Za-z0-9_]{1,60}>\s*$)"
    r"|\s{1,60}(?:None|N/A)\s*$"
)
_REASONS = lazy_regex(r"clocks_(?:event|throttle)_reason_(.{1,40})")
_WORDS = {
    "timestamp": "Timestamp", "driver_version": "Driver Version", "cuda_version": "CUDA Version",
    "attached_gpus": "Attached GPUs", "product_name": "Product Name", "uuid": "GPU UUID",
    "persistence_mode": "Persistence Mode", "compute_mode": "Compute Mode", "mig_mode": "MIG Mode",
    "current_mig": "Current", "fb_memory_usage": "FB Memory Usage",
    "bar1_memory_usage": "BAR1 Memory Usage", "total": "Total", "pci": "PCI",
    "pci_gpu_link_info": "GPU Link Info", "pcie_gen": "PCIe Generation", "current_link_gen": "Current",
    "max_link_gen": "Max", "link_widths": "Link Width", "current_link_width": "Current", "max_link_width": "Max",
    "gpu_numa_node_id": "GPU Numa Node ID", "fabric": "Fabric", "state": "State", "status": "Status",
    "ecc_mode": "ECC Mode", "current_ecc": "Current", "ecc_errors": "ECC Errors", "volatile": "Volatile",
    "aggregate": "Aggregate", "sram_uncorrectable": "SRAM Uncorrectable", "dram_uncorrectable": "DRAM Uncorrectable",
    "sram_uncorrectable_parity": "SRAM Uncorrectable Parity", "double_bit": "Double Bit",
    "sram_uncorrectable_secded": "SRAM Uncorrectable SEC-DED", "retired_pages": "Retired Pages",
    "multiple_single_bit_retirement": "Single Bit ECC", "double_bit_retirement": "Double Bit ECC",
    "pending_blacklist": "Pending Page Blacklist", "pending_retirement": "Pending", "remapped_rows": "Remapped Rows",
    "remapped_row_corr": "Correctable Error", "remapped_row_unc": "Uncorrectable Error",
    "remapped_row_pending": "Pending", "remapped_row_failure": "Remapping Failure Occurred",
    "clocks_event_reasons": "Clocks Event Reasons", "clocks_throttle_reasons": "Clocks Throttle Reasons",
}  # fmt: skip
_SLOWDOWNS = {
    "gpu_idle": "Idle", "applications_clocks_setting": "Applications Clocks Setting", "sw_power_cap": "SW Power Cap",
    "hw_slowdown": "HW Slowdown", "hw_thermal_slowdown": "HW Thermal Slowdown", "sync_boost": "Sync Boost",
    "hw_power_brake_slowdown": "HW Power Brake Slowdown", "sw_thermal_slowdown": "SW Thermal Slowdown",
    "display_clocks_setting": "Display Clock Setting",
}  # fmt: skip


def word(element: str) -> str:
    """The text form's word for an element; the element's own name where the text form has none that is read."""
    reason = _REASONS.match(element)
    if reason:
        return _SLOWDOWNS.get(reason[1], element)
    return _WORDS.get(element, element)
