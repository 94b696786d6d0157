"""``nvidia-smi nvlink -s`` and ``-e``: the links of each GPU with their rates or errors, or that all are inactive.

Source of the format: nvidia-smi (CUDA driver package): ``Link 0: 26.562 GB/s``, ``Link 0: <inactive>`` or
``Link 0: Replay Errors: 0`` after a tab. Since Blackwell (570) ``-e`` counts packets, malformed packets, symbols and
recoveries instead; ``Effective BER: 15e-255`` is none.
"""

from __future__ import annotations

from ncdiag.parsers import _gpu_list

KIND = "nvlink_s"
COMMANDS: tuple[str, ...] = ()  # its first line is that of ``nvidia-smi -L``, whose module takes the commands
ANCHOR = (
    r"\s{1,8}Link \d{1,2}: (?:\d{1,4}(?:\.\d{1,4})? GB/s|<inactive>"
    r"|[A-Z][A-Za-z ]{1,40}?(?: Errors(?: Lane \d| - \d{1,2})?| events| packets| bytes| discards): \d{1,20})[ \t]*$"
)
ROWS = _gpu_list.ROWS
