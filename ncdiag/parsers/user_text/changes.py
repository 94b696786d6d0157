"""The words for what a person changes: settings, numbers of GPUs and hosts, releases, and things to turn on or off.

A label comes of a thing and what is done with it: ``disable`` and ``firewall`` make ``no-firewall``. A thing that
is alone (``docker works``) is a change only where its entry has a label for that (``bare``).
"""

from __future__ import annotations

from ncdiag.facts.model.told import RELEASED
from ncdiag.parsers.user_text.words import Word

_NUMBER = (
    r"(?:more\sthan\s(?:one|\d{1,4})|\d{1,5}|both|one|two|three|four|five|six|seven|eight|sixteen|single|multiple"
    r"|multi|several|many)"
)
_SPAN = rf"(?:from\s{_NUMBER}\sto\s|{_NUMBER}\s(?:or|instead\sof|rather\sthan)\s)?"
"""What may come before a number: ``2 or 3 workers``, ``from 64 to 128 GPUs``, ``two instead of four cards``."""
_GPUS = r"(?:gpus?|cards?|ranks?|process(?:es)?|workers?)"
_VERSION = r"v?\d{1,3}\.\d{1,3}(?:\.\d{1,4}){0,2}(?:[+-](?:cu|cuda)[\d.]{2,5}|-\d{1,2}(?![.\d]))?"
_RELEASE = rf"(?:version\s|release\s)?(?:(?:from\s)?{_VERSION}\sto\s|between\s{_VERSION}\sand\s)?{_VERSION}"
_HOSTS = r"(?:nodes?|hosts?|machines?|servers?|box(?:es)?)"
_CHINESE_NUMBER = "(?:\\d{1,4}|单|一|双|两|二|三|四|八|多|跨)"
_VALUE = r"""[A-Za-z0-9_./^@+-]{1,60}(?:[,:][A-Za-z0-9_./^@+-]{1,60}){0,16}"""

_NAMED = ("kernel", "firmware", "ofed", "rocm")
_PLUGINS = (
    r"(?:aws-ofi-nccl|ofi-nccl|aws-ofi-rccl|nccl-rdma-sharp-plugins|(?:nccl\s|net(?:work)?\s|ofi\s|sharp\s)plugin"
    r"|libfabric|efa(?:\sinstaller)?|hpc-?x|ucx|ucc|gdrcopy|nvshmem|nixl)"
)
_MPI = r"(?:open\s?mpi|mpich|mvapich2?|intel\smpi)"
_OS = r"(?:ubuntu|rhel|centos|rocky(?:\slinux)?|debian|sles|dgx\sos|amazon\slinux)"
_FRAMEWORKS = (
    r"(?:(?:py)?torch|vllm|deepspeed|sglang|megatron(?:-lm)?|jax|tensorflow|transformers|accelerate|lightning|trl"
    r"|ray|nemo|horovod|paddle|tensorrt-llm|fairseq|mindspore)"
)
_SIZED = r"(?:messages?|sizes?|tensors?|payloads?|transfers?|ones|buffers?|packets?)"
_CAPACITY = r"(?:[ahv]\d00|gpus?|memory|ram|cards?|boards?|vram|hbm|models?|dis[kc]|network|ethernet)"
"""What has so many bytes, rather than moves them."""
_VERSIONS = r"(?:versions?|releases?|builds?)"
_NAMED_HOST = (
    r"(?:(?:dgx|hgx|compute|gpu-?node|node|host|worker|server|machine|srv|nid)[-_]?\d{1,5}|gpu(?:-\d{1,4}|\d{2,4}))"
)
"""A host by its name; a name of two digits and more is not that of a GPU."""
_SET_TO = r"(?:true|false|none|null|on|off|\d{1,6}|[\"'][\w.-]{1,30}[\"'])"
_SEATED = r"(?:mov|plug|put|insert|seat|plac|shift|install|swapp?)(?:t?ing|g(?:ed|ing)|ed|e[ds]?|s)?"
_MORE_OF = (
    r"(?:(?:add(?:ed|ing|s)?|join(?:ed|s|ing)?)\s(?:yet\s|just\s)?(?:one\s|two\s)?(?:another|an?\s\w+|an?|more)"
    r"|(?:one|two|three|four|\d{1,3})\s(?:more|additional|extra|further)|(?:an?\s)?(?:additional|extra|further))"
)

CHANGES = (
    Word(
        "variable", "",
        r"(?:os\.environ\[[\"'])?(?-i:[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,30}){1,8})(?:[\"']\])?"
        rf"(?:\s?=\s?[\"'\u201c]?{_VALUE}[\"'\u201d]?|\sto\s(?:\d{{1,9}}|ring|tree|simple|true|false)(?![\w.]))?",
        rf"(?-i:[A-Z][A-Z0-9]{{1,20}}(?:_[A-Z0-9]{{1,30}}){{1,8}})(?:\s?=\s?[\"']?{_VALUE}[\"']?)?",
    ),
    Word("count", "gpu", rf"{_NUMBER}\s{_GPUS}\s(?:instead\sof|rather\sthan)\s{_NUMBER}"),
    Word("count", "host", rf"{_NUMBER}\s{_HOSTS}\s(?:instead\sof|rather\sthan)\s{_NUMBER}"),
    Word("thing", "added-gpu", rf"{_MORE_OF}\s(?:gpus?|cards?|ranks?)(?!\s?<)"),
    Word("thing", "added-host", rf"{_MORE_OF}\s{_HOSTS}"),
    Word("count", "batch", r"batch(?:es)?(?:[-\s]?size)?\s?(?:of\s|=\s?|to\s)?\d{1,5}(?!\s?(?:/|of\b|[kmgt]i?b"
                           r"|-?th\b|\d|\.\d))"),
    Word("count", "gpu", rf"(?:(?:only|just|even)\s)?(?:a\s|an\s)?{_SPAN}{_NUMBER}(?:\s|-)?(?:or\smore\s)?{_GPUS}"
        r"(?!\s?<|-to-)"
        rf"|a\ssecond\sgpu"
         r"|(?:-g|(?:--?)?n(?:proc|gpus?)(?:[-_]per[-_]node)?|-np|--?gpus?|num_gpus|--tensor-parallel-size"
         r"|tensor\sparallel(?:\ssize)?|tp|world[_\s]size)[\s=]?\d{1,4}",
         f"{_CHINESE_NUMBER}\\s?(?:张|块|个)?(?:gpu|显)?(?:卡|GPU)"),
    Word("count", "host", rf"(?:(?:only|just|even)\s)?(?:a\s|an\s)?{_SPAN}{_NUMBER}(?:\s|-)?{_HOSTS}|(?:a"
                          rf"|the)\s(?:second|2nd|third|3rd)\s{_HOSTS}|(?:(?:a|any|each"
                          rf"|every)\s)?pair\sof\s{_HOSTS}|(?:--?nnodes|num_nodes)[\s=]?\d{{1,5}}",
         f"{_CHINESE_NUMBER}\\s?(?:台|个)?(?:机器?|节点|主机|服务器)"),
    Word("count", "container",
         rf"(?:(?:only|just|even)\s)?(?:a\s)?{_NUMBER}(?:\s|-)?(?:docker\s|podman\s)?(?:containers?|pods?)"
         r"|the\ssame\s(?:docker\s)?(?:container|pod)", f"{_CHINESE_NUMBER}\\s?个\\s?(?:容器|docker|pod)"),
    Word("thing", "shm-more", r"(?:more|\d{1,3}\s?gi?b?(?:\sof)?)\s(?:shared\smemory|(?:/dev/)?shm)"),
    Word("size", "", rf"\d{{1,5}}(?:\.\d+)?\s?[kmgt]i?b(?:ytes)?(?!/s|ps|it)(?!\s(?:of\s|each\s)?{_CAPACITY})"),
    Word("size", "small", rf"(?:small(?:er)?|tiny)\s(?!batch)(?:\w+\s)?{_SIZED}"),
    Word("size", "large", rf"(?:large(?:r)?|big(?:ger)?|huge)\s(?!batch)(?:\w+\s)?{_SIZED}"),
    Word("release", "plugin", rf"{_PLUGINS}\s{_RELEASE}"),
    Word("release", "nccl", rf"(?<!-)[nr]ccl\s?v?{_RELEASE}"),
    Word("release", "driver", r"\d{3}(?:\.\d+){0,2}\sdrivers?|drivers?\s(?:version\s"
                              r"|branch\s)?\(?v?\d{3}(?:\.\d+){0,2}"),
    Word("release", "cuda", rf"cuda\s(?:toolkit\s)?{_RELEASE}"),
    *(Word("release", name, rf"{name}\s{_RELEASE}") for name in _NAMED),
    Word("release", "mpi", rf"{_MPI}\s{_RELEASE}"),
    Word("release", "os", rf"{_OS}\s(?:{_RELEASE}|\d{{1,2}}(?![\w.]))"),
    Word("release", "image", r"(?:[\w./-]{1,80}/)?[a-z][\w-]{1,40}:(?!\d+\.\d+\.\d+\.\d)v?\d{1,2}\.\d{1,2}"
                             r"(?:\.\d{1,2})?[\w.-]{0,20}"
         rf"|(?:image|container)\s(?:tag\s|version\s)?{_VERSION}"),
    Word("release", "framework", rf"{_FRAMEWORKS}\s{_RELEASE}"),
    Word("release", "", rf"(?:from\s{_VERSION}\sto\s)?{_VERSION}(?!\s?(?:[kmgt]i?b|x|s|ms|us|sec\w*|min\w*|h"
                        rf"|hours?|days?|%)\b)"
         r"|from\s[3-6]\d\d\sto\s[3-6]\d\d(?!\s?(?:[kmgt]?i?b|[mu]?s|sec\w*|tokens?|samples?|steps?|w|watts?|mhz"
         r"|gb\S*|it|images?)\b|\.\d|%)|(?:(?<=on\s)|(?<=with\s)|(?<=to\s))[3-9]\d\d(?=[\s,.;)])",
         rf"{_VERSION}(?!\\s?[gmGM]?[bB])"),
    Word("number", "", r"(?:\d{1,4}|one|two|three|four|eight)(?=\W*$|[,.;):]|\sof\sthem\b|\sor\s(?:less|fewer"
                       r"|more)\b|\s(?:it|they|do|does|did|never|always|i|we|is|was|has|had|hangs?|works?|fails?"
                       r"|crash(?:es)?|goes|went|gives?|gave|runs?|ran|dies|died|trains?|gets?|got|breaks|freezes"
                       r"|stalls|segfaults|throws?))", r"\d{3}(?=\s?(?:就|后|之后|以后))"),
    Word("thing", "iommu-flag-off", r"(?:intel_|amd_)?iommu=off"),
    Word("thing", "kernel-flag", r"iommu=\w+|(?:intel|amd)_iommu=\w+|pci=\w+|pcie_\w+=\w+"),
    Word("thing", "host-network", r"--net(?:work)?[\s=]host|host\snetwork(?:ing)?|hostnetwork(?::\strue)?",
         "--net(?:work)?[\\s=]host|host\\s?网络|主机网络"),
    Word("thing", "host-ipc", r"--ipc[\s=]host", "--ipc[\\s=]host"),
    Word("thing", "privileged", r"--privileged(?:=true)?|privileged(?:\smode)?"),
    Word("thing", "shm-option", r"--shm-size[\s=]\w+", "--shm-size[\\s=]\\w+"),
    Word("thing", "shm-size", r"shm(?:[-\s](?:size|limit))?|(?:size\sof\s)?/dev/shm|shared\smemory(?:\ssize)?",
         "--shm-size[\\s=]\\w+|共享内存"),
    Word("thing", "ports", r"iptables\s-F|open(?:ed|ing)(?:\sup)?\s(?:the\s|all\s"
                           r"|these\s)?(?:\w+\s)?ports?(?:\sin\s(?:the\s|our\s)?(?:security\sgroups?|firewalls?))?"),
    Word("thing", "nightly", r"(?:the\s)?(?:latest\s)?nightly(?:\sbuild)?(?!\sof)"),
    Word("thing", "firewall", r"firewalld?|iptables|ufw|nftables", "防火墙|firewalld"),
    Word("thing", "mesh-off", r"sidecar\.istio\.io/inject[\"']?[:=]\s?[\"']?false[\"']?"
                              r"|istio-injection[:=]\s?disabled|linkerd\.io/inject[:=]\s?[\"']?disabled[\"']?"),
    Word("thing", "mesh", r"(?:the\s)?(?:istio|linkerd|envoy)(?:['\s]s?\s?(?:sidecars?|proxy|mesh))?"
                          r"|sidecars?(?:\sinjection)?|service\smesh"),
    Word("thing", "acs", r"(?:pcie?\s)?acs", "ACS"),
    Word("thing", "iommu", r"iommu(?!\s(?:passthrough|pt)\b)|vt-d", "IOMMU"),
    Word("thing", "container", r"docker(?!\srun|'s|\simage)|podman|(?:the\s|a\s)?containers?(?!\simage)"
                               r"|(?<=inside\s)(?:the\s|a\s)?pods?", "容器|docker"),
    Word("thing", "image", r"(?:(?:docker|container|base|ngc)\s)?images?(?!:)"),
    Word("thing", "outside-pod", r"(?:outside(?:\sof)?|without)\s(?:the\s|a\s|any\s)?(?:kubernetes|k8s|pods?)"),
    Word("thing", "bare-metal", r"bare[-\s]metal|the\shost\s(?:itself|directly)|natively(?=\W*$|\W+(?:\d|there\b"
                                r"|it\b|i\b|we\b|works?\b|runs?\b|fine\b|ok\b|no\b))", "物理机|裸机"),
    Word("thing", "outside", r"(?:directly|natively)\son\s(?:the\s|a\s)?(?:host|node|machine)|on\sthe\shost(?!\sn)",
         "宿主机"),
    Word("thing", "numa-bound",
         r"numactl(?:\s--[\w=,-]{2,40}){0,3}|(?:cpu|numa|process|core|rank|gpu|thread)[-\s](?:affinity|pinning"
         r"|binding)|(?:pin|bind|ty|lock|tie)(?:s|n?ed|n?ing|d)?\s(?:\w+\s){1,4}(?:to"
         r"|on)\s(?:\w+\s){0,3}(?:numa(?:\s(?:nodes?|domains?))?|cores?|cpus?|sockets?)|--bind-to[\s=]\w+"
         r"|--cpu-bind\S{0,30}",
         "绑定?\\s?(?:NUMA|核|CPU)|绑核|NUMA\\s?绑定"),
    Word("thing", "local-data",
         r"(?:data(?:\s?sets?)?|training\s(?:set|data)|images|samples|shards)\s(?:\w+\s){0,3}?(?:on|onto|to|into"
         r"|from)\s(?:\w+\s){0,2}(?:local\s\w+|nvme|ssds?|/tmp|/dev/shm|ram\s?disk|tmpfs)(?:\s(?:nvme|ssd|disk"
         r"|drive|storage)s?)?"),
    Word("thing", "reseat", r"re-?(?:seat|plug|insert)(?:s|ged|ted|ed|ging|ting|ing)?(?:\s(?:all\s)?(?:the|our"
                            r"|both|its|my)\s(?:\w+\s)?(?:cables?|cards?|gpus?|modules?|transceivers?|optics"
                            r"|nics?|hcas?|bridges?|risers?|dimms?))?",
         "重新?插拔?|插拔"),
    Word("thing", "slot", r"(?:pcie?\s|x\d{1,2}\s|first\s|second\s|other\s|upper\s"
                          r"|lower\s){0,2}slots?(?:\s\d)?(?!\s(?:of|for)\b)", "插槽|槽位"),
    Word("thing", "switch",
         r"(?:(?:leaf|tor|spine|top-of-rack|ib|infiniband|ethernet|network)\s)?(?:switch(?:es)?(?!\s(?:to|from"
         r"|off|on|over|back|it|the|between)\b)(?:\sports?)?|leaf|spine|tor)(?!\s(?:pcie|chip))", "交换机"),
    Word("thing", "p2p", r"(?:p2p|peer[-\s](?:to[-\s]peer|access))(?!\s(?:bandwidth|numbers|tests?|transfers?"
                         r"|speed|performance|rates?|latency))", "P2P(?!\\s?(?:带宽|性能|速度|通信|测试|延迟))"),
    Word("thing", "gdr", r"gdr|gpu\s?direct(?:\srdma)?", "GDR|GPUDirect(?:\\s?RDMA)?"),
    Word("thing", "ib", r"(?:ib|infiniband|rdma)\s?/\s?(?:roce|rdma)|infiniband|ib|rdma|roce", "IB|RDMA"),
    Word("thing", "tcp", r"tcp|sockets?|ethernet", "TCP"),
    Word("thing", "nvlink", r"(?:the\s)?nvlinks?(?:\sbridges?)?", "NVLink"),
    Word("thing", "timeout-set", r"(?:set|setting|put|putting)\s(?:the\s)?(?:\w+\s)?timeout\sto"
                                 r"|(?:an?\s)?(?:longer|larger|higher|bigger|generous"
                                 r"|increased)\s(?:\w+\s)?timeouts?|(?:rais|increas|extend|bump|lengthen)(?:ed"
                                 r"|ing|e)\s(?:the\s|our\s)?(?:\w+\s)?timeouts?"),
    Word("thing", "timeout", r"(?:the\s)?timeout(?=\s(?:to|from|of|did|does)\b)"),
    Word("thing", "batch", r"batch(?:es|[-\s]?sizes?)?", "batch\\s?size"),
    Word("thing", "driver", r"(?:gpu\s|nvidia\s)?drivers?", "驱动"),
    Word("thing", "plugin", rf"{_PLUGINS}(?:\s{_VERSIONS})?"),
    Word("thing", "nccl", rf"(?<!-)[nr]ccl(?:\s{_VERSIONS})?", "nccl"),
    Word("thing", "cuda", rf"cuda(?:\s{_VERSIONS})?"),
    *(Word("thing", name, rf"{name}(?:\s{_VERSIONS})?") for name in _NAMED),
    Word("thing", "mpi", rf"{_MPI}(?:\s{_VERSIONS})?"),
    Word("thing", "framework", rf"(?:of\s)?(?:(?:py)?torch|vllm|deepspeed|sglang|transformers|trl)(?:\s{_VERSIONS})?"),
    Word("thing", "release", _VERSIONS),
    Word("thing", "interface", r"(?:network\s)?interfaces?|nics?|hcas?|network\s(?:cards?|adapters?)"),
    Word("thing", "cable", r"(?:optical\s|dac\s|aoc\s|fib(?:er|re)\s|patch\s|network\s)?(?:cables?|transceivers?"
                           r"|patch\scords?)|optics|dacs?|aocs?|q?sfps?(?:\smodules?)?|fib(?:er|re)s?",
         "(?:网|光|数据|铜)缆|网线|光纤|光模块|线缆|[根条]新?线(?!程)"),
    Word("thing", "named-host", _NAMED_HOST),
    Word("thing", "hosts", rf"clusters?|{_HOSTS}|(?:\w+-)?(?:node|host|worker|server|machine)[-_\s]?\d{{1,4}}"),
    Word("thing", "gpus",
         r"(?:(?:the|a|every|each|all(?:\sthe)?|both)\s)?(?:gpus?|(?:graphics"
         r"|video)\scards?)(?:\s\d{1,2})?(?!\s(?:nodes?|servers?|machines?|hosts?|cluster|instances?))"),
    Word("thing", "gloo", r"(?:the\s)?gloo(?:\sbackend)?", "gloo"),
    Word("thing", "launcher", r"(?:mpirun|torchrun|srun|horovodrun)(?!\serrors?)"),
    Word("thing", "memlock", r"ulimit\s-l(?:\sunlimited)?|memlock"),
    Word("thing", "reboot", r"(?:an?\s)?(?:cold\s|hard\s|full\s)?(?:reboots?|rebooting|rebooted"
                            r"|power[-\s]?cycl(?:e|ed|ing))|cold\sboot|restart(?:ing|ed)?\s(?:of\s)?(?:the\s"
                            r"|both\s|all\s)?(?:nodes?|hosts?|machines?|servers?)", "重启"),
    Word("thing", "reinstall", r"re-?install(?:ing|ed)?|re-?creat(?:ed|ing)|rebuil[dt](?:ing)?|(?:an?\s)?(?:fresh"
                               r"|clean|brand-new)\s(?:\w+\s)?(?:env(?:ironment)?s?|venv|install(?:ation)?"
                               r"|checkout)", "重装"),
    Word("thing", "fabric-manager", r"restart(?:ing|ed)?\s(?:the\s)?(?:nvidia-)?fabric\s?-?manager"),
    Word("variable", "flag", r"--[a-z][a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){1,6}(?:=[\w./:-]{1,40}|\s(?:true|false"
                             r"|\d{1,6})(?![\w.]))?"),
    Word("variable", "flag", rf"(?<!-)(?-i:[a-z][a-z0-9]{{1,24}}(?:_[a-z0-9]{{1,24}}){{1,6}})(?:\s?=\s?"
                             rf"|\s(?:(?:is\s|was\s)?set\s)?(?:to|at)\s){_SET_TO}(?!\w|\.\w)"),
    Word("variable", "flag", r"(?<!-)(?-i:[a-z][a-z0-9]{1,24})=(?:true|false|none)"),
    Word("back", "off", r"(?<!than\s)outside(?=\s(?:it\b|everything|all\b|works?|runs?|fine|no\b)|\W*$|[,.:])"),
    Word("back", "on", r"with\s(?:it|that|this)(?=\s(?!\w+\s?=))"),
    Word("back", "off", r"without\s(?:it|that|this|them|the\s(?:variable|setting|flag|option))|without(?=\s?:"
                        r"|\W*$|,)|(?:took|taking|take)\s(?:it|that|this|them|the\s(?:line|variable|setting|entry"
                        r"|flag))\s(?:out|away|back)|(?:turn|switch)(?:ed|ing)?\s(?:it|that|this|them)\soff"
                        r"|(?:disabl(?:ed|ing)|stopp(?:ed|ing)|remov(?:ed|ing)|unset(?:ting)?|dropp(?:ed|ing)"
                        r"|delet(?:ed|ing)|revert(?:ed|ing))\s(?:it|that|this|them|the\s(?:line|variable|setting"
                        r"|entry|flag))(?=\s?[,.;)]|\W*$|\s(?:and|is|was|in|on|by|via|with|all|then|so)\b)"),
    Word(
        "act", "off",
        r"disabl(?:e[sd]?|ing)|(?:turn|switch|shut)(?:ed|ing|s|ting)?(?=\s(?:\w+\s){1,3}(?:off|down)\b)"
        r"|clos(?:e[sd]?|ing)(?=\s(?:the\s|our\s|my\s)?firewall)|shut(?:ting)?\s(?:down|off)|kill(?:ed"
        r"|ing)?(?=\s(?:the\s)?(?:firewall|iptables|ufw))|(?<=wall\s)down|(?<=walld\s)down|(?<=wall\sis\s)down"
        r"|deactivat(?:e[sd]?|ing)|block(?:ed|ing|s)?(?=\s(?:the\s)?(?:p2p|peer|ib\b|rdma))|bypass(?:ed|ing)?"
        r"|forbid(?:den|ding)?|(?:taken|took|taking|take)\s(?:away|out\sof\suse|down)|flush(?:ed|ing)?|open(?:ed"
        r"|ing)(?=\s(?:up\s)?(?:the\s)?firewall)|delet(?:e[sd]?|ing)|dropp(?:ed|ing)|(?:took|taking|take)\s(?:out"
        r"|away)|comment(?:ed|ing)?\sout|turn(?:ed|ing|s)?\soff|switch(?:ed|ing)?\soff|stop(?:s|ped|ping)?"
        r"|remov(?:e[sd]?|ing)|un-?set(?:ting)?|unplug(?:ged|ging)?|without|w/o|outside(?:\sof)?|off|is\snot\sset"
        r"|not\sset|uninstall(?:ed|ing)?",
        "关闭|关掉|关了|禁用|不加|不设置?|不用|不使用|去掉|取消|卸载|没加|忘了?加|忘记加",
    ),
    Word("act", "enable", r"(?:re-?)?enabl(?:e[sd]?|ing)|(?:re-?)?activat(?:e[sd]?|ing)|(?:turn|switch)(?:ed|ing"
                          r"|s)?\son|(?:turn|switch)(?:ed|ing|s)?(?=\s(?:\w+\s){1,3}on\b)", "打开|开启|启用"),
    Word("act", "down", r"(?:the|my|our|an)\sold(?=\s(?:kernel|driver|nccl|rccl|torch|pytorch|cuda|firmware|ofed"
                        r"|(?:docker\s|container\s)?image)\b)"),
    Word("act", "up", r"(?:the|my|our|a)\snew(?=\s(?:kernel|driver|nccl|rccl|torch|pytorch|cuda|firmware|ofed"
                      r"|(?:docker\s|container\s)?image)\b)"),
    Word("act", "seat", rf"{_SEATED}(?=\s(?:\w+\s){{1,4}}(?:in|into|to)\s(?:\S+\s){{0,4}}slot)"),
    Word("act", "swap", r"(?:an?\s|the\s)?(?:brand\s)?new(?=\s(?:\w+\s)?(?:cables?|transceivers?|optics|dacs?"
                        r"|gpus?|cards?|nics?|switch|risers?))|(?:(?<=over\s)|(?<=via\s))the\s(?:second"
                        r"|other)(?=\sswitch)"),
    Word("act", "swap", r"(?:ex)?chang(?:ed|ing)(?=\s(?:(?:the|our|my|all|both|one|that|of"
                        r"|a)\s){0,3}(?:\w+\s){0,2}(?:cables?|transceivers?|optics|fib(?:er|re)s?|modules?|nics?"
                        r"|hcas?|cards?|gpus?|switch|slots?|ports?|dacs?|q?sfps?|nodes?|hosts?|machines?|servers?)\b)"),
    Word("act", "swap", r"(?:my|our|the|an?)\s(?:old|older|new|newer|second)(?=\s(?:cluster|machine|server|box"
                        r"|host|node))"),
    Word("act", "out", r"exclud(?:e[sd]?|ing)|drain(?:ed|ing)?|cordon(?:ed|ing)?|evict(?:ed|ing)?|blacklist(?:ed"
                       r"|ing)?|kick(?:ed|ing)\sout|(?:taken|kept|keeping|thrown|left)\sout(?:\sof)?|(?:kick"
                       r"|throw|leave|leaving|keep|pull)(?:s|ed|ing)?(?=\s\S{2,30}\sout\b)|out\sof\s(?:the\s"
                       r"|our\s)?(?:job|run|allocation|pool|rotation|partition|game|way)|(?:is|was|are)(?:n't"
                       r"|\snot)\s(?:(?:a\s)?part\sof|in|among|involved)|not\s(?:(?:a\s)?part\sof|involved)"
                       r"|(?:took|taking|take)(?=\s\S{2,30}\sout\b)|(?:leave|leaving|left)\sout|avoiding"),
    Word("act", "up", r"upgrad(?:e[sd]?|ing)|updat(?:e[sd]?|ing)|newer|(?:from\s)?(?:master|main|trunk"
                      r"|head)(?=\s(?:fix|solv|help|work|branch))|(?:the\s)?(?:latest|newest)(?:\s(?:nightly"
                      r"|version|release))?", "升级?(?:到|至|成|为)?|新版本?|最新版本?"),
    Word("act", "down", rf"downgrad(?:e[sd]?|ing)|(?:earlier|prior)(?=\s(?:\w+\s){{0,2}}{_VERSIONS}\b)|older"
        r"|revert(?:ed|ing)?|roll(?:ed|ing)?[-\s]back|rollback|roll(?:ed|ing)?(?=\s(?:the\s)?\w+\sback)|previous"
        r"|(?:go|going|went)\sback(?=\s(?:one|two|three|a|an|some|a\sfew)\s(?:\w+\s){0,2}(?:release|version)s?\b)"
        r"|(?:go|going|went|move|moved|moving)\sback\sto(?!\snormal)",
         "降级?(?:到|至|成|为)?|旧版本?|老版本|回退|退回(?:到|至)?|回滚(?:到|至)?|换回"),
    Word("act", "more", r"increas(?:e[sd]?|ing)|larger|bigger|rais(?:e[sd]?|ing)|adding|enlarg(?:ed|ing)"
                        r"|extend(?:ed|ing)|bump(?:ed|ing)|doubl(?:ed|ing)", "增大|加大|调大"),
    Word("act", "less", r"reduc(?:e[sd]?|ing)|half(?=\s(?:of\s)?the\sbatch)|smaller|lower(?:ed|ing)?"
                        r"|decreas(?:e[sd]?|ing)|halv(?:ed|ing)|shrink(?:ing)?|(?:go|goes|going|went|gone|came"
                        r"|got)\s(?:back\s)?down\s(?:to|with)(?=\s(?:an?\s|the\s)?batch)", "减小|调小"),
    Word("act", "swap", r"swapp(?:ed|ing)|other|another|different|(?:switch|mov|chang|migrat)(?:ed|e"
                        r"|ing)?(?:\s(?:over\s)?to|(?=\sfrom))|went(?=\sfrom)|replac(?:ed|ing)|changing", "换"),
    Word("link", "unless", r"unless|until"),
    Word("link", "even", r"continue[sd]?\sto|despite|in\sspite\sof|notwithstanding|regardless\sof"
                         r"|no\smatter(?:\s(?:what|which|whether|if))?|irrespective\sof|independent(?:ly)?\sof"
                         r"|whatever|still|even(?:\s(?:if|with|when|after))?|too(?=\W*$)|also|again|as\swell|both"
                         r"|keeps?|anyway",
         "还是|仍然?|依然|依旧|照样|也是?|都"),
    Word("not", "neither", r"neither|nor|not\seven|not\s(?:one|a\ssingle)|no\s(?:runs?|jobs?)(?=\s)"
                           r"|none(?:\sof(?:\s(?:them|these|those|this|it|the\sabove|which))?)?|nothing"),
    Word("not", "not", r"not|no|never|don'?t|doesn'?t|didn'?t|won'?t|cannot|can'?t|isn'?t|no\slonger|without\sever"),
    Word("tried", "try", r"tried|tested|attempted", "试过?了?|尝试"),
    Word("tried", "", r"set|setting|used|using|i\sdid|added|exported|ran\swith"),
    Word("since", "makes", r"makes?|made|causes?|caused|leads?\sto|led\sto|results?\sin|triggers?|introduce[sd]?"),
    Word("since", "", r"(?:ever\s)?since|started\sto(?=\s\w+\safter)|after|as\sof|starting\swith"
                      r"|introduced\s(?:in|by|with)", "之?后(?:就|开始)"), Word("before", "", r"before"),
    Word("link", "namely", r"i\.e\.|namely|that\sis(?=,?\s(?:to\ssay|with|by|when|in|on|using|[A-Z]+_))"
                           r"|in\sother\swords"),
    Word("link", "with", r"with(?:\s(?:and|or)\s|/)without"),
    Word("link", "with", r"(?:as|so)\s(?:long|soon)\sas|once|whenever|provided(?:\sthat)?|thanks\sto|with|when|if"
                         r"|by|on|in|inside|through|over|via|under|for|to|only|at", "在|用|加上?了?|设置"),
    Word("break", "", r"and|then", "\uff0c|\uff1b|\u3001|且|并"),
)  # fmt: skip

DONE = {
    "added-gpu": dict.fromkeys(("bare", "on", "more", "swap"), "more-gpus"),
    "added-host": dict.fromkeys(("bare", "on", "more", "swap"), "more-hosts"),
    "named-host": {"off": "other-hosts", "out": "other-hosts", "swap": "other-hosts"},
    "outside-pod": dict.fromkeys(("bare", "on", "off"), "no-container"),
    "shm-more": {"bare": "larger-shm", "on": "larger-shm", "more": "larger-shm"},
    "slot": {"swap": "other-slot", "seat": "other-slot"},
    "switch": {"swap": "other-switch"},
    "gdr": {"off": "NCCL_NET_GDR_LEVEL=LOC", "enable": "gdr-on"},
    "firewall": {"off": "no-firewall"},
    "mesh": {"off": "no-mesh", "out": "no-mesh"}, "mesh-off": {"bare": "no-mesh", "on": "no-mesh", "off": "no-mesh"},
    "acs": {"off": "acs-off", "enable": "acs-on"},
    "iommu": {"off": "iommu-off", "enable": "iommu-on"},
    "container": {"off": "no-container", "on": "container", "up": "newer-image", "down": "older-image"},
    "p2p": {"off": "NCCL_P2P_DISABLE", "enable": "p2p-on"},
    "ib": {"off": "NCCL_IB_DISABLE"},
    "nvlink": {"off": "no-nvlink"},
    "shm-size": {"more": "larger-shm", "off": "NCCL_SHM_DISABLE"},
    "shm-option": {"bare": "larger-shm", "on": "larger-shm", "more": "larger-shm"},
    "timeout": {"more": "larger-timeout"}, "timeout-set": {"bare": "larger-timeout", "on": "larger-timeout"},
    "batch": {"less": "smaller-batch", "more": "larger-batch"},
    "interface": {"swap": "other-interface"},
    "cable": {"swap": "other-cable"},
    "hosts": {"swap": "other-hosts", "out": "other-hosts"}, "ports": {"bare": "no-firewall", "on": "no-firewall"},
    "nightly": {"bare": "newer-framework", "on": "newer-framework", "up": "newer-framework"},
    "iommu-flag-off": dict.fromkeys(("bare", "on", "more", "up", "off"), "iommu-off"),
    "gpus": {"swap": "other-gpus", "out": "other-gpus"},
    "launcher": {"swap": "other-launcher"},
    "host-network": {"off": "no-host-network", "on": "host-network", "bare": "host-network", "more": "host-network"},
    **{
        name: {"up": f"newer-{name}", "down": f"older-{name}", "swap": f"other-{name}"}
        for name in RELEASED
    },
    **{
        name: {"bare": name, "on": name, "more": name, "swap": name}
        for name in ("kernel-flag", "host-ipc", "privileged", "bare-metal", "gloo", "memlock", "reboot", "reinstall",
                     "fabric-manager", "reseat", "numa-bound", "local-data")
    },
    "outside": {"on": "no-container", "bare": "no-container"},
}  # fmt: skip
"""Label by thing and action; ``on`` is being with or in it."""
REMEDIES = frozenset({
    "no-firewall", "no-mesh", "acs-off", "iommu-off", "larger-shm", "larger-timeout", "smaller-batch", "reboot",
    "reinstall", "memlock", "fabric-manager", "other-gpus", "other-interface", "other-cable", "other-slot",
    "other-switch", "reseat", "privileged",
    "kernel-flag", "host-ipc",
})  # fmt: skip
"""What people change only to fix something: where it fails with it, it did not help."""
NUMBERS = {
    "one": 1, "two": 2, "pair": 2, "both": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "sixteen": 16, "single": 1, "same": 1,
    "second": 2, "third": 3, "fourth": 4, "单": 1, "一": 1, "双": 2, "两": 2, "二": 2, "三": 3, "四": 4, "八": 8,
    **dict.fromkeys(("multiple", "multi", "several", "many", "多", "跨"), 1 << 20),
}  # fmt: skip
OTHER = {"launcher": "other-launcher", "network": "other-network"}
"""The label of what is another one of its kind."""
LESS_MORE = {
    "gpu": ("fewer-gpus", "more-gpus"),
    "host": ("fewer-hosts", "more-hosts"),
    "container": ("fewer-containers", "more-containers"),
    "size": ("smaller-size", "larger-size"),
    "batch": ("smaller-batch", "larger-batch"),
    **{name: (f"older-{name}", f"newer-{name}") for name in RELEASED},
}
"""The labels of a smaller and of a greater number of each unit."""
