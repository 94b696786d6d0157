"""The words for what a person changes: settings, numbers of GPUs and hosts, releases, and things to turn on or off.

A label comes of a thing and what is done with it: ``disable`` and ``firewall`` make ``no-firewall``. A thing that
stands alone (``docker works``) is a change only where its entry has a label for that (``bare``).
"""

from __future__ import annotations

from ncdiag.parsers.told.words import Word

_NUMBER = r"(?:\d{1,5}|one|two|three|four|five|six|seven|eight|sixteen|single|multiple|multi|several|many)"
_GPUS = r"(?:gpus?|cards?|ranks?|process(?:es)?|workers?)"
_HOSTS = r"(?:nodes?|hosts?|machines?|servers?)"
_CHINESE_NUMBER = "(?:\\d{1,4}|单|一|双|两|二|三|四|八|多)"
_VALUE = r"""[\w./^@+-]{1,60}(?:[,:][\w./^@+-]{1,60}){0,16}"""

CHANGES = (
    Word(
        "variable", "",
        r"(?:os\.environ\[[\"'])?(?-i:[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,30}){1,8})(?:[\"']\])?"
        rf"(?:\s?=\s?[\"'\u201c]?{_VALUE}[\"'\u201d]?|\sto\s(?:\d{{1,9}}|ring|tree|simple|true|false)(?![\w.]))?",
        rf"(?-i:[A-Z][A-Z0-9]{{1,20}}(?:_[A-Z0-9]{{1,30}}){{1,8}})(?:\s?=\s?[\"']?{_VALUE}[\"']?)?",
    ),
    Word("count", "gpu", rf"(?:(?:only|just|even)\s)?(?:a\s|an\s)?{_NUMBER}(?:\s|-)?{_GPUS}|a\ssecond\sgpu"
         r"|(?:-g|(?:--?)?n(?:proc|gpus?)(?:[-_]per[-_]node)?|-np|--?gpus?|--tensor-parallel-size"
         r"|tensor\sparallel(?:\ssize)?|tp|world[_\s]size)[\s=]?\d{1,4}",
         f"{_CHINESE_NUMBER}\\s?(?:张|块|个)?(?:gpu|显)?(?:卡|GPU)"),
    Word("count", "host", rf"(?:(?:only|just|even)\s)?(?:a\s|an\s)?{_NUMBER}(?:\s|-)?{_HOSTS}|a\ssecond\s{_HOSTS}"
         rf"|--?nnodes[\s=]?\d{{1,5}}",
         f"{_CHINESE_NUMBER}\\s?(?:台|个)?(?:机器?|节点|主机|服务器)"),
    Word("release", "nccl", r"nccl\s(?:version\s)?v?\d+\.\d+(?:\.\d+)?"),
    Word("release", "driver", r"drivers?\s(?:version\s)?v?\d{3}(?:\.\d+){0,2}"),
    Word("release", "cuda", r"cuda\s(?:version\s)?v?\d{1,2}\.\d+"),
    Word("release", "framework", r"(?:py)?torch\s(?:version\s)?v?\d+\.\d+(?:\.\d+)?"
         r"|vllm\s(?:version\s)?v?\d+\.\d+(?:\.\d+)?"),
    Word("number", "", r"(?:\d{1,4}(?:\.\d+){0,2}|one|two|three|four|eight)(?=\W*$|[,.;)]|\s(?:it|they|do|does"
         r"|hangs?|works?|fails?|crash))"),
    Word("thing", "kernel-flag", r"iommu=\w+|(?:intel|amd)_iommu=\w+|pci=\w+|pcie_\w+=\w+"),
    Word("thing", "host-network", r"--net(?:work)?[\s=]host|host\snetwork(?:ing)?|hostnetwork(?::\strue)?",
         "--net(?:work)?[\\s=]host"),
    Word("thing", "host-ipc", r"--ipc[\s=]host", "--ipc[\\s=]host"),
    Word("thing", "privileged", r"--privileged(?:=true)?|privileged(?:\smode)?"),
    Word("thing", "shm-size", r"--shm-size[\s=]\w+|shm[-\s]size|(?:size\sof\s)?/dev/shm|shared\smemory(?:\ssize)?",
         "--shm-size[\\s=]\\w+|共享内存"),
    Word("thing", "firewall", r"firewalld?|iptables|ufw|nftables", "防火墙|firewalld"),
    Word("thing", "mesh", r"(?:the\s)?(?:istio|linkerd|envoy)(?:['\s]s?\s?(?:sidecars?|proxy|mesh))?|sidecars?"
         r"|service\smesh"),
    Word("thing", "acs", r"(?:pcie?\s)?acs", "ACS"),
    Word("thing", "iommu", r"iommu|vt-d", "IOMMU"),
    Word("thing", "container", r"docker|podman|(?:the\s|a\s)?containers?", "容器|docker"),
    Word("thing", "bare-metal", r"bare[-\s]metal|the\shost\s(?:itself|directly)", "物理机|裸机"),
    Word("thing", "outside", "", "宿主机"),
    Word("thing", "p2p", r"p2p|peer[-\s]to[-\s]peer", "P2P"),
    Word("thing", "ib", r"infiniband|ib|rdma|roce", "IB|RDMA"),
    Word("thing", "tcp", r"tcp|sockets?|ethernet", "TCP"),
    Word("thing", "nvlink", r"(?:the\s)?nvlinks?(?:\sbridges?)?", "NVLink"),
    Word("thing", "timeout", r"(?:the\s)?timeout(?=\s(?:to|from|of|did|does)\b)"),
    Word("thing", "batch", r"batch(?:[-\s]?size)?", "batch\\s?size"),
    Word("thing", "driver", r"(?:gpu\s|nvidia\s)?drivers?", "驱动"),
    Word("thing", "nccl", r"nccl(?:\sversions?)?", "nccl"),
    Word("thing", "cuda", r"cuda(?:\sversions?)?"),
    Word("thing", "framework", r"(?:of\s)?(?:py)?torch|vllm|deepspeed"),
    Word("thing", "interface", r"(?:network\s)?interface|nic"),
    Word("thing", "hosts", rf"cluster|{_HOSTS}"),
    Word("thing", "gpus", r"(?:the\s)?gpus"),
    Word("thing", "gloo", r"(?:the\s)?gloo(?:\sbackend)?", "gloo"),
    Word("thing", "launcher", r"mpirun|torchrun|srun|horovodrun"),
    Word("thing", "memlock", r"ulimit\s-l(?:\sunlimited)?|memlock"),
    Word("thing", "reboot", r"reboot(?:ing|ed)?|power\scycl(?:e|ing)", "重启"),
    Word("thing", "reinstall", r"re-?install(?:ing|ed)?|re-?creat(?:ed|ing)|rebuil[dt](?:ing)?", "重装"),
    Word("thing", "fabric-manager", r"restart(?:ing|ed)?\s(?:the\s)?(?:nvidia-)?fabric\s?-?manager"),
    Word(
        "act", "off",
        r"disabl(?:e[sd]?|ing)|turn(?:ed|ing|s)?\soff|switch(?:ed|ing)?\soff|stopp(?:ed|ing)|remov(?:e[sd]?|ing)"
        r"|unset(?:ting)?|unplug(?:ged|ging)?"
        r"|without|outside(?:\sof)?|off|is\snot\sset|not\sset|uninstall(?:ed|ing)?",
        "关闭|关掉|关了|禁用|不加|不设置?|不用|不使用|去掉|取消|卸载|没加",
    ),
    Word("act", "up", r"upgrad(?:e[sd]?|ing)|updat(?:e[sd]?|ing)|newer|(?:the\s)?(?:latest|newest)(?:\s(?:nightly"
         r"|version|release))?", "升级|新版本?|最新版本?"),
    Word("act", "down", r"downgrad(?:e[sd]?|ing)|older|revert(?:ed|ing)?|roll(?:ed|ing)?\sback|previous",
         "降级|旧版本?|老版本|回退"),
    Word("act", "more", r"increas(?:e[sd]?|ing)|larger|bigger|rais(?:e[sd]?|ing)|adding", "增大|加大|调大"),
    Word("act", "less", r"reduc(?:e[sd]?|ing)|smaller|lower|decreas(?:e[sd]?|ing)", "减小|调小"),
    Word("act", "swap", r"swapp(?:ed|ing)|other|another|different|switch(?:ed|ing)?\s(?:to|from)|replac(?:ed|ing)"
         r"|changing", "换"),
    Word("link", "unless", r"unless"),
    Word("link", "even", r"still|even(?:\s(?:if|with|when|after))?|too(?=\W*$)|also|again|as\swell|both|keeps?|anyway",
         "还是|仍然?|依然|依旧|照样|也是?|都"),
    Word("not", "neither", r"neither|nor|not\seven|none\sof"),
    Word("not", "not", r"not|no|never|don'?t|doesn'?t|didn'?t|won'?t|cannot|can'?t|isn'?t|no\slonger|without\sever"),
    Word("tried", "", r"tried|set|setting|used|using|i\sdid|added|exported|ran\swith"),
    Word("since", "", r"(?:ever\s)?since|started\sto(?=\s\w+\safter)"), Word("before", "", r"before|until"),
    Word("link", "with", r"with(?:\s(?:and|or)\s|/)without"),
    Word("link", "with", r"with|when|if|by|on|in|inside|over|via|under|for|to|only|at", "在|用|加上?了?|设置"),
    Word("break", "", r"and|then", "\uff0c|\uff1b|\u3001|且|并"),
)  # fmt: skip

DONE = {
    "firewall": {"off": "no-firewall"},
    "mesh": {"off": "no-mesh"},
    "acs": {"off": "acs-off"},
    "iommu": {"off": "iommu-off"},
    "container": {"off": "no-container", "on": "container"},
    "p2p": {"off": "NCCL_P2P_DISABLE"},
    "ib": {"off": "NCCL_IB_DISABLE"},
    "nvlink": {"off": "no-nvlink"},
    "shm-size": {"more": "larger-shm"},
    "timeout": {"more": "larger-timeout"},
    "batch": {"less": "smaller-batch", "more": "larger-batch"},
    "interface": {"swap": "other-interface"},
    "hosts": {"swap": "other-hosts"},
    "gpus": {"swap": "other-gpus"},
    "launcher": {"swap": "other-launcher"},
    "host-network": {"off": "no-host-network", "on": "host-network", "bare": "host-network", "more": "host-network"},
    **{
        name: {"up": f"newer-{name}", "down": f"older-{name}", "swap": f"other-{name}"}
        for name in ("driver", "nccl", "cuda", "framework")
    },
    **{
        name: {"bare": name, "on": name, "more": name, "swap": name}
        for name in ("kernel-flag", "host-ipc", "privileged", "bare-metal", "gloo", "memlock", "reboot", "reinstall",
                     "fabric-manager")
    },
    "outside": {"on": "no-container", "bare": "no-container"},
}  # fmt: skip
"""Label by thing and action; ``on`` is being with or in it."""
NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "sixteen": 16, "single": 1,
    "second": 2, "单": 1, "一": 1, "双": 2, "两": 2, "二": 2, "三": 3, "四": 4, "八": 8,
    **dict.fromkeys(("multiple", "multi", "several", "many", "多"), 1 << 20),
}  # fmt: skip
OTHER = {"launcher": "other-launcher", "network": "other-network"}
"""The label of what is another one of its kind."""
LESS_MORE = {
    "gpu": ("fewer-gpus", "more-gpus"),
    "host": ("fewer-hosts", "more-hosts"),
    **{name: (f"older-{name}", f"newer-{name}") for name in ("nccl", "driver", "cuda", "framework")},
}
"""The labels of a smaller and of a greater number of each unit."""
