"""How containers, tasks and jobs ended: the signal, with the container, the pod or the node where the line has it."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

_LIST = "CONTAINER ID   IMAGE     COMMAND     CREATED        STATUS      PORTS     NAMES\n"
_POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: mt-worker-2
status:
  containerStatuses:
  - name: trainer
    {state}:
      terminated:
        exitCode: {code}
        reason: {reason}
"""


def _pod(state: str, code: int, reason: str) -> str:
    return _POD.format(state=state, code=code, reason=reason)


CRASHED = {
    "$ docker wait mt\n134\n": "SIGABRT (exit code 134) in container mt",
    "$ docker inspect -f '{{.State.ExitCode}}' mt\n139\n": "SIGSEGV (exit code 139) in container mt",
    '"State": {\n    "Status": "exited",\n    "ExitCode": 139,\n}\n': "SIGSEGV (exit code 139) in",
    _LIST + '8c1d9b7e3f2a   mt:4   "python3"   9 minutes ago   Exited (139) 3 minutes ago     mt-0\n':
        "SIGSEGV (exit code 139) in container mt-0",
    _LIST + '8c1d9b7e3f2a   mt:4   "python3"   9 minutes ago   Restarting (134) 4 seconds ago     mt-0\n':
        "SIGABRT (exit code 134) in container mt-0",
    "mt-1 exited with code 139\n": "SIGSEGV (exit code 139) in container mt-1",
    "$ ./train.sh\n$ echo $?\n136\n": "SIGFPE (exit code 136) in a process",
    _pod("state", 134, "Error"): "SIGABRT (exit code 134) in container trainer on mt-worker-2",
    _pod("lastState", 139, "Error"): "SIGSEGV (exit code 139) in container trainer on mt-worker-2",
    "JobID      JobName      State ExitCode\n77.0       python      FAILED     0:11\n": "SIGSEGV in a process",
    "srun: error: n5: task 7: Illegal instruction (core dumped)\n": "SIGILL in task 7 on n5",
    "srun: error: n5: tasks 2-3: Floating point exception\n": "SIGFPE in tasks 2-3 on n5",
}  # fmt: skip
KILLED = {
    "$ docker wait mt\n137\n": "KILLED: SIGKILL (exit code 137) in container mt",
    _pod("state", 137, "Error"): "KILLED: SIGKILL (exit code 137) in container trainer on mt-worker-2",
    _pod("lastState", 137, "OOMKilled"): "Container trainer on mt-worker-2 was killed for lack of host memory",
}
HARMLESS = (
    "$ docker wait mt\n0\n",
    "$ docker wait mt\n143\n",
    "$ docker inspect -f '{{.State.Pid}}' mt\n139\n",
    "$ grep -c error log\n139\n",
    "$ echo $?\n1\n",
    _LIST + '8c1d9b7e3f2a   mt:4   "python3"   9 minutes ago   Up 9 minutes     mt-0\n'
    'aabbccddeeff   mt:1   "bash"   5 weeks ago   Exited (139) 4 weeks ago     mt-old\n'
    'aabbccddeefe   mt:1   "bash"   2 hours ago   Exited (137) 2 hours ago     mt-spare\n',
    _pod("state", 0, "Completed"),
    _pod("state", 143, "Error"),
    '"State": {\n    "Status": "running",\n    "ExitCode": 0,\n}\n',
)  # fmt: skip


def _titles(text: str) -> list[str]:
    report = diagnose([TextSource.of_bytes("paste", text.encode())])
    return [finding.title for finding in report.findings if finding.severity in {"error", "warning"}]


@pytest.mark.parametrize(("text", "title"), CRASHED.items())
def test_a_crash_names_its_signal_and_its_place(text: str, title: str) -> None:
    assert any(f"CRASHED: {title}" in each for each in _titles(text)), _titles(text)


@pytest.mark.parametrize(("text", "title"), KILLED.items())
def test_a_kill_names_its_place(text: str, title: str) -> None:
    assert any(title in each for each in _titles(text)), _titles(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_ends_that_somebody_asked_for_and_other_numbers_are_no_failures(text: str) -> None:
    assert _titles(text) == []


def test_a_bus_error_keeps_its_node_and_task() -> None:
    report = diagnose([TextSource.of_bytes("paste", b"srun: error: n5: task 7: Bus error (core dumped)\n")])
    assert any("SIGBUS in task 7 on n5" in finding.title for finding in report.findings)


def test_the_options_of_an_inspected_container_are_those_of_its_start() -> None:
    text = (
        '$ docker inspect mt\n[\n    {\n        "Name": "/mt",\n        "State": {\n            "Running": true,\n'
        '            "ExitCode": 0\n        },\n        "HostConfig": {\n            "IpcMode": "host",\n'
        '            "ShmSize": 17179869184,\n            "Ulimits": null,\n            "DeviceRequests": [\n'
        '                {\n                    "Count": 2,\n                    "Capabilities": [["gpu"]]\n'
        '                }\n            ]\n        }\n    }\n]\n'
    )  # fmt: skip
    found = read_source(TextSource.of_bytes("paste", text.encode()))
    launches = [each.fields for each in found.observations if each.entity == "Launch"]
    assert [(each["shm_size_bytes"], each["ipc"], each["gpus"]) for each in launches] == [(17179869184, "host", "2")]
    assert _titles(text) == []
    killed = text.replace('"Running": true', '"OOMKilled": true').replace('"ExitCode": 0', '"ExitCode": 137')
    assert any("Container mt was killed for lack of host memory" in title for title in _titles(killed))
