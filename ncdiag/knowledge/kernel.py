"""The kernel's configuration for steady speed: frequency governors, idle states, clocks, devices."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Benchmark, Event, Host, LinkTest
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import bus_id
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import bus_bandwidth
from ncdiag.facts.vocabulary.hosts import sysctl
from ncdiag.facts.vocabulary.link_tests import ENOUGH_OF_TESTED, fraction_of_tested
from ncdiag.facts.vocabulary.pci import LENT, is_amd_gpu, is_nvidia_gpu
from ncdiag.facts.vocabulary.usual import platform
from ncdiag.nccl.vocabulary.limits import fraction_of_limit, in_node_floor, is_below_links

_DEEP_US = 10
"""The wake-up latency in microseconds above which an idle state is deep: C1 takes 1 or 2, C6 more than 100."""
_SLOW_US = 9.0
"""The longest time of a small RDMA message in microseconds on a healthy machine, by the providers' own checks."""


@derived
def deep_sleep(host: Host, view: View) -> str | None:
    """Idle states in use with a long wake-up latency, ``C6 (290 us)``; empty for none, None if not known."""
    if host.idle_states is None:
        return None
    view.note(host, "idle_states")
    deep = [s for s in host.idle_states if (s.latency_us or 0) > _DEEP_US and not s.disabled and s.used is not False]
    return ", ".join(f"{state.name} ({state.latency_us} us)" for state in deep)


@derived
def small_message_us(host: Host, view: View) -> float | None:
    """The time of a small message in microseconds in the slowest latency test of this host; None without one."""
    tests = (test for test in view.job.link_tests if test.host == host.name or (test.host is None and _is_alone(view)))
    return max((latency for test in tests if (latency := small_latency_us(test, view)) is not None), default=None)


@derived
def has_slow_small_messages(host: Host, view: View) -> bool | None:
    """Do small RDMA messages take longer than on any healthy machine?"""
    latency = small_message_us(host, view)
    return None if latency is None else bool(latency > _SLOW_US)


def _is_alone(view: View) -> bool:
    return len(view.job.hosts) == 1


_SMALL_MESSAGE = 64


@derived
def small_latency_us(test: LinkTest, view: View) -> float | None:
    """The typical (else average) time of a small message in microseconds; None for a bandwidth test."""
    for row in test.rows:
        latency = row.typical_us if row.typical_us is not None else row.average_us
        if row.size <= _SMALL_MESSAGE and latency is not None:
            view.note(test, "rows")
            return latency
    return None


_NUMA_COSTS = 0.5
"""The lowest share of the expected bandwidth that remains when the kernel migrates pages."""


@derived
def suffers_from_numa_balancing(host: Host, view: View) -> bool | None:
    """Does RCCL report NUMA balancing by the kernel, or is it on where a benchmark is slightly slow?

    It is on by default, and costs only a part of the bandwidth. None where nothing was measured.
    """
    for event in view.events_on(host.name, ["rccl-numa-balancing"]):
        view.note(event)
        return True
    value = sysctl(host, "kernel.numa_balancing")
    if value is None:
        return None
    view.note(host, "sysctls")
    found = [_is_a_bit_slow(benchmark, view) for benchmark in view.job.benchmarks] if value != "0" else [False]
    return True in found or (None if None in found or not found else False)


def _is_a_bit_slow(benchmark: Benchmark, view: View) -> bool | None:
    """Is the result below what its links, or tests of them, allow, but not far below? None when not known."""
    tested, reached = fraction_of_tested(benchmark, view), bus_bandwidth(benchmark)
    told = (is_below_links(benchmark, view), None if tested is None else tested < ENOUGH_OF_TESTED)
    floor = in_node_floor(benchmark, view)
    shares = (fraction_of_limit(benchmark, view), tested, reached[0] / floor if reached and floor else None)
    if told == (None, None):
        return None
    return True in told and all(share >= _NUMA_COSTS for share in shares if share is not None)


@derived
def has_nouveau_only(host: Host, view: View) -> bool | None:
    """Is nouveau loaded and NVIDIA's own module not?"""
    nouveau = next((m for m in host.modules if m.name == "nouveau"), None)
    if nouveau is None:
        return False if is_closed(host, "modules") or "nouveau" in (host.absent_modules or ()) else None
    view.note(nouveau)
    if any(m.name == "nvidia" for m in host.modules):
        return False
    return True if is_closed(host, "modules") or "nvidia" in (host.absent_modules or ()) else None


@derived_of("pcie-aer")
def is_uncorrected(event: Event, view: View) -> bool:
    """Did a PCIe error occur that the link could not correct, and that did not lose the device?"""
    return "uncorrect" in event.text.lower() and not _is_fatal(event)


@derived_of("pcie-aer", "pcie-link-lost")
def is_link_lost(event: Event, view: View) -> bool:
    """Was the device below a PCIe port lost: by a fatal error, by its port (DPC), or with its link?"""
    return event.event == "pcie-link-lost" or _is_fatal(event)


def _is_fatal(event: Event) -> bool:
    return _FATAL.search(event.text) is not None


_FATAL = lazy_regex(r"(?i)\buncorrect(?:ed|able) \(fatal\)")
"""Wording of aer_error_severity_string in drivers/pci/pcie/aer.c: Uncorrected up to Linux 6.9, then Uncorrectable."""


_LOWERING = frozenset({"ondemand", "conservative", "userspace", "schedutil"})
_INTEL = "GenuineIntel"
_SKEW_SECONDS = 1.0


@derived
def lowering_governors(host: Host, view: View) -> str | None:
    """Governors that lower clocks between bursts, ``ondemand 32 of 128``; empty for none, None if not known.

    ``powersave`` does so too, except with Intel's own driver, where it is only a name (intel_pstate, active mode).
    """
    told = host.cpu_governors
    if told is None:
        return None
    view.note(host, "cpu_governors")
    names = _LOWERING if host.cpu_vendor in {None, _INTEL} else _LOWERING | {"powersave"}
    low = {name: count for name, count in sorted(told.items()) if name in names}
    return ", ".join(f"{name} {count} of {sum(told.values())}" for name, count in low.items())


@derived
def clock_problem(host: Host, view: View) -> str | None:
    """What is wrong with the clock of the host; empty for nothing, None if not known."""
    if host.clock_synchronized is False:
        view.note(host, "clock_synchronized")
        return "is not synchronised to a reference"
    if host.clock_offset_seconds is not None and abs(host.clock_offset_seconds) > _SKEW_SECONDS:
        view.note(host, "clock_offset_seconds")
        return f"is {host.clock_offset_seconds:+.1f} s off"
    return None if host.clock_synchronized is None and host.clock_offset_seconds is None else ""


@derived
def lacks_passthrough(host: Host, view: View) -> bool:
    """Does RCCL report that iommu=pt is missing, or does the IOMMU of a machine with AMD GPUs translate addresses?

    A virtual machine does not show the IOMMU of the physical machine, to which its GPUs are connected.
    """
    for event in view.events_on(host.name, ["rccl-kernel-setting-missing"]):
        if event.fields.get("setting") == "iommu=pt":
            view.note(event)
            return True
    if not host.iommu_translating or host.virtual_machine or "amd" not in platform(view.job, view):
        return False
    view.note(host, "iommu_translating")
    return not any(is_nvidia_gpu(device) for device in host.pci)


_GPU_WINDOW = 1 << 28
"""The least size in bytes of the window to a GPU's memory; those of bridges and most cards are smaller."""
_SERVER_WINDOW = 1 << 34
"""The size in bytes from which on a window is that of a GPU, or of few other devices."""
_DEVICE_BARS = 6
"""The number of windows that a device itself may have; higher numbers are those of bridges."""
_FINAL = lazy_regex(r"failed to assign|can't enable device")
"""What the kernel prints in the end; before, it may find no space and then move other windows."""
_GPU_DRIVERS = lazy_regex(r"nvidia|nvrm|amdgpu", re.IGNORECASE)
_DRIVER, _KERNEL, _SHOWN = "gpu-bar-invalid", "pci-bar-unassigned", "gpu-window-unassigned"


@derived_of(_DRIVER, _KERNEL, _SHOWN)
def is_window_missing(event: Event, view: View) -> bool | None:
    """Did a GPU get no address space for its memory window (BAR), by the driver, lspci or the kernel's last message?

    None for a window that other devices may have as well, if nothing shows the device.
    """
    if event.event in {_DRIVER, _SHOWN}:
        return True
    bar, size = (event.fields.get(name) for name in ("bar", "bar_size"))
    if not isinstance(bar, int) or not isinstance(size, int) or bar >= _DEVICE_BARS or size < _GPU_WINDOW:
        return False
    if _FINAL.search(event.text) is None or any(
        (given.fields.get("pci"), given.fields.get("bar")) == (event.fields.get("pci"), bar)
        for given in view.events_on(event.host, ["pci-bar-assigned"])
    ):
        return False
    if size >= _SERVER_WINDOW:
        return True
    other = is_of_another_device(event, view)
    return None if other is None else not other


@derived_of(_DRIVER, _KERNEL, _SHOWN)
def is_of_another_device(event: Event, view: View) -> bool | None:
    """Does the window belong to another device, or to a GPU that works or is lent to a virtual machine?

    None if nothing shows the device.
    """
    if event.event == _DRIVER:
        return False
    address = bus_id(str(event.fields.get("pci") or ""))
    for host in view.job.hosts:
        if event.host in {None, host.name}:
            if any(gpu.bus_id == address for gpu in host.gpus):
                return True
            for device in host.pci:
                if device.bus_id == address and (device.description or device.device_class):
                    view.note(device)
                    return device.driver in LENT or not (is_nvidia_gpu(device) or is_amd_gpu(device))
    lines = (other.text for other in view.job.events if address is not None and address in other.text.lower())
    return False if any(map(_GPU_DRIVERS.search, lines)) else None


_SMALLER = 2
"""The ratio of two windows of GPUs of one model from which the smaller one was not enlarged."""


@derived
def small_windows(host: Host, view: View) -> str:
    """The GPUs whose BAR1 is smaller than that of others of their model, ``GPU 5 (8192 MiB of 32768)``; empty for none.

    A driver with resizable BAR enlarges the windows as far as the bridge above each GPU has address space.
    """
    known = [gpu for gpu in host.gpus if gpu.bar1_mib]
    if len({gpu.model for gpu in known}) != 1 or any(gpu.model is None for gpu in known):
        return ""
    most = max(gpu.bar1_mib or 0 for gpu in known)
    small = [gpu for gpu in known if (gpu.bar1_mib or 0) * _SMALLER <= most]
    for gpu in small:
        view.note(gpu, "bar1_mib")
    return ", ".join(f"GPU {gpu.index} ({gpu.bar1_mib} MiB of {most})" for gpu in small)
