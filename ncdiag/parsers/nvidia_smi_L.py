"""``nvidia-smi -L``: one line a GPU, indented lines for its MIG devices.

Source of the format: nvidia-smi (CUDA driver package). ``nvidia-smi nvlink -s`` begins with the same line, so its
links are read here as well when no command says which of the two it is.
"""  # noqa: N999  (named after the tool's option, as the section kind is)

from __future__ import annotations

from ncdiag.parsers import _gpu_list

KIND = "nvidia_smi_L"
COMMANDS: tuple[str, ...] = ("nvidia-smi -L", "nvidia-smi --list-gpus", "nvidia-smi nvlink")
ANCHOR = _gpu_list.GPU
ROWS = _gpu_list.ROWS
