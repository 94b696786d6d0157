"""The forms of what befalls GPUs, network cards and machines."""

from __future__ import annotations

from ncdiag.parsers.user_text.forms.form import Form, Way

_MACHINE = r"(?:machine|server|host|node|box|pc|computer|system|workstation|rig|vm|instance)"
_REBOOT = (
    r"(?:(?:fixed|cured|solved|resolved|repaired) (?:by|with|through) )?(?:a |the )?(?:re-?boot\w*"
    r"|power[- ]?cycl\w*|cold[- ](?:boot|start)|hard[- ]?(?:reset|reboot|power)\w*"
    r"|turn\w* (?:it |the \w+ )?off and on"
    rf"|re-?start\w* (?:of )?(?:the |my |our |this )?(?:whole |entire |affected |physical |gpu )?{_MACHINE}"
    rf"|reset\w* (?:of )?(?:the |my )?(?:whole |entire )?(?:machine|box|pc|computer|server))(?! (?:loop"
    rf"|itself))"
)
_NEEDED = (
    r"(?:only|must|have to|has to|had to|having to|need to|needs|needed|until|till|requires?|required"
    r"|nothing (?:but|except|short of|else)|each time|every time|gets? rid|got rid|to (?:get"
    r"|bring) (?:\w+ ){0,2}(?:back|going|working)|to recover"
    r"|before (?:it|they|the \w+|\w+) (?:works?|can|run)|the only (?:way|thing|cure|fix|remedy)|except"
    r"|apart from|unless (?:i|we)|forced to|forces?(?: us| me)?(?: to)?|ends? up|(?<!not )(?<!n't )(?:fixes it"
    r"|helps|brings? (?:\w+ ){1,2}back))"
)
_NOT_GPUS = (
    r"\b(?:nics?|hcas?|ports?|rails?|interfaces?|ranks?|process\w*|nodes?|hosts?|errors?|lines?|gb/s|mb/s"
    r"|gbit|gbps|nvlinks?|links?|times?|steps?|minutes?|files?|channels?|workers?|epochs?|percent|%)\b"
)
_SEES = (
    r"(?:visible|seen|shown|listed|detected|recogni[sz]ed|found|available|usable|present|accessible|reported"
    r"|enumerated|come up|came up)|(?:sees?|saw|shows?|showed|detects?|finds?|lists?|recogni[sz]es?"
    r"|recogni[sz]e|reports?"
    r"|shows? up|showed up|shows up|appears?|counts?|enumerates?|brings? up|exposes?|hands? out)\b"
)

_ONE = (
    r"(?:first |single |a single |one |1 |<few> )(?:(?:out )?of (?:the |my |our |its |these )?(?:\w+ ){0,2}?)?<gpu>"
    r"|(?:gpu|cuda|device)[ :#]{0,2}\d\b"
)
_USES = (
    r"(?:us(?:es?|ed|ing)|utili[sz](?:es?|ed|ing)|occup(?:y|ies|ied)|(?:runs?|running|trains?|training|works?"
    r"|computes?) on)"
)
_AT_WORK = (
    r"(?:used|utili[sz]ed|in use|busy|active|work\w*|loaded|occupied|running|computing|at (?:9\d|100) ?%"
    r"|doing|trained on|allocated)"
)
_IDLE = (
    r"(?:is|are|was|were|stays?|remains?|sits?|at|shows?|have|has|with) (?:\w+ ){0,2}?(?:idle|idling|unused|empty"
    r"|not (?:\w+ )?(?:used|utili[sz]ed|doing|working|active|busy)|0 ?%|0 ?mi?b|doing nothing|nothing)"
)
_ALONE = (
    r"\b(?:each|every|per) (?:process|rank|task|worker|node|pod|job)|\b(?:if|when|with|while|as long as|once)"
    r"(?: i| we)?(?: \w+)? (?:only|just|one|a single)\b|(?:works?|worked) (?:fine|well)|\bfine\b|no problem"
    r"|as expected|should"
    r"|does not (?:happen|occur|appear)"
)
_OTHERS = (
    r"\b(?:[2-9]|\d\d)\b|two|three|four|five|six|eight|ten|sixteen|\ball\b|both|others?|rest|remaining|instead"
    r"|although|though|despite|multi\S*|multiple|ddp|fsdp|distributed|torchrun|accelerate|deepspeed|why|parallel"
)

FORMS = (
    Form(
        "gpu-lost", "crashes", ("fails", "crashes", "hangs"),
        (
            Way("",
                r"lost (?:the )?(?:gpu|card|device) ?#?\d+\b|(?:suddenly|then|afterwards|now|later|since then"
                r"|(?:after|by) (?:\S+ ){1,3}?) ?(?:there (?:are|were|is) |it has |we have |shows? "
                r"|had )?only <few> (?:gpus|cards)(?: (?:are |were )?(?:left|remain\w*|visible|there))?"
                r"|(?:driver|system|host|kernel) (?:has )?lost (?:contact|connection|track|access"
                r"|communication)",
                r"util|slow|faster|need|enough|work\w* with|use only"),
            Way(
                r"(?:<few> of (?:the |my |them|our )?(?:\w+ )?)?(?:<gpu>|devices?)\b|one of them|xid ?79",
                r"<vanish>|goes missing|went missing",
                r"util|usage|error (?:\w+ )?(?:disappear|is gone|vanish|is missing)|(?:problem|issue|hang"
                r"|message|error|warning|bottleneck|slowdown)s? (?:\w+ )?(?:disappear|vanish|is gone|are gone"
                r"|was gone|went away|goes away)|(?:memory|package|performance|throughput|speed|bandwidth"
                r"|clocks?|power|temperature|library|driver|module|option|packet\w*) (?:\w+ ){0,3}?(?:drop"
                r"|fall|fell|is missing|lost|gone)|in the container|inside (?:the|a) (?:container|pod|docker)"),
            Way("",
                r"(?:lost|loses?|losing|lose) (?:contact (?:to|with) )?(?:a|one|two|the|another"
                r"|\d) (?:of (?:the |our |my )?(?:\w+ )?)?(?:gpus?|cards?)|the host lost a gpu",
                r"lost (?:\w+ )?(?:performance|speed)"),
            Way("",
                r"(?:only |just )?<few> (?:out )?of (?:the |our |my )?<few> (?:\w+ )?<gpu> (?:are|is|were|was"
                r"|remain\w*) (?:\w+ )?(?:left|alive|remaining|surviving)|<few> <gpu> (?:are|were) left", r"util|slow"),
        ),
    ),
    Form(
        "needs-reboot", "crashes", ("fails", "crashes", "hangs"),
        (
            Way(_NEEDED, _REBOOT,
                r"^\W*(?:please )?(?:re-?boot|re-?start|power|reset)(?!ing)|(?<!only )after (?:the |a |every "
                r"|each )?reboot(?!ing)|survives?|upgrad\w+|updat\w+|install\w+|(?:no|without a"
                r"|without) reboot|re-?start (?:the )?(?:\w+ )?(?:service|daemon|inference|triton|vllm|http"
                r"|api)|take effect|default|persist"),
        ),
    ),
    Form(
        "gpu-unseen", "not-used", ("not-used", "fails"),
        (
            Way(
                r"(?:the |my |our )?(?:new|second|third|fourth|last|other|additional|added) (?:\w+ )?(?:gpu"
                r"|card)",
                r"(?:is|are|was|does|gets?|do) not (?:\w+ )?(?:detected|recogni[sz]ed|seen|visible|listed"
                r"|shown|found|show\w*|appear\w*|available)|(?:never|nowhere) (?:\w+ )?(?:detected"
                r"|recogni[sz]ed|seen|visible|listed|shown|found|show\w*|appear\w*)", _NOT_GPUS),
            Way("",
                r"(?:one|two|three|a|[1-7]) (?:of (?:the |my |our )?(?:\w+ )?)?(?:gpus?|cards?) (?:\w+ )?(?:is"
                r"|are) (?:missing|not (?:\w+ )?(?:visible|seen|listed|detected|shown|recogni[sz]ed|found))",
                _NOT_GPUS),
            Way(
                r"(?:only|just|merely|not more than|no more than) (?:the )?<few>\b|visible (?:only )?<few>\b"
                r"|not all\b|<few> (?:out )?of (?:the |my |our |its )?(?:<few>|\d+)|(?:only|just"
                r"|merely) (?:\w+ )?gpu \d|all but <few>",
                _SEES,
                _NOT_GPUS,
                r"gpus?|cards?|devices?|<gpu>|cuda|nvidia-smi|rocm-smi|\b[2-9] of (?:the )?\d",
            ),
            Way(
                r"<gpu>|devices?|cuda_visible_devices",
                r"(?:the )?(?:others?|other <few>|rest|remaining <few>|last <few>"
                r"|<few> of them) (?:\w+ )?(?:is|are|stays?|remains?) (?:\w+ )?(?:missing|invisible"
                r"|not (?:\w+ )?(?:visible|seen|shown|listed|detected|there)|absent|nowhere)|(?:cannot|can't"
                r"|can not|does not|doesn't|don't|do not|never) (?:\w+ ){0,2}?(?:see|detect|recogni[sz]e|find"
                r"|list|show) (?:\w+ ){0,3}?(?:all|the (?:other|second|third|fourth|last|remaining)|both)"
                r"|(?:second|third|fourth|fifth|sixth|seventh|eighth|last|other) (?:gpu|card) (?:\w+ )?(?:is"
                r"|are|was) (?:\w+ )?(?:not|missing|invisible|absent)|(?:one|two|some|half) of (?:the |my "
                r"|our )?(?:\w+ )?(?:gpus|cards|<gpu>) (?:\w+ )?(?:is|are|do|does) (?:\w+ )?(?:not|missing"
                r"|invisible|absent)",
                _NOT_GPUS,
            ),
        ),
    ),
    Form(
        "gpus-unused", "not-used", ("not-used", "slow"),
        (
            Way(rf"(?:only|just|merely) (?:the |my )?(?:{_ONE}|one of them)",
                rf"(?:is|are|was|were|gets?|being|does|seems? to be) (?:\w+ ){{0,2}}?{_AT_WORK}", _ALONE, _OTHERS),
            Way("",
                rf"{_USES} (?:only|just|always|merely) (?:on )?(?:the |my )?(?:{_ONE})"
                rf"|(?:only|just|always|merely) (?:ever )?{_USES} (?:the |my )?(?:{_ONE})"
                rf"|{_USES} (?:\w+ )?(?:one|1|a single) (?:\w+ )?<gpu> (?:instead of|rather than|although|even though"
                r"|despite|out of)"
                r"|(?:only|just) (?:one|1|a single|the first) process (?:is |was |gets |ever )?(?:runs?|starts?|started"
                r"|launched|running|created|spawned)",
                _ALONE, _OTHERS),
            Way(r"(?:the |all |my )?(?:others?|rest|remaining|second|last|all but (?:the first|one)"
                r"|gpus? [1-9](?: ?(?:-|to|and|,|\u2013) ?\d)*)(?: (?:\w+ )?<gpu>)?",
                _IDLE, rf"{_ALONE}|\bhang|\bhung|stuck|wait|nics?\b|ports?\b|nodes?\b|hosts?\b|\bmemory usage|loss",
                r"gpus?|cards?"),
            Way("",
                r"(?:does|do|did|is|will|never|can)(?: not|n't)? (?:\w+ )?(?:us(?:e|es|ing)|utili[sz]\w+) "
                r"(?:all|both|the (?:other|second|rest)|more than (?:one|1)|multiple|every) (?:\w+ ){0,3}?<gpu>",
                rf"{_ALONE}|how", r"not|n't|never"),
        ),
    ),
    Form(
        "rdma-unseen", "not-used", ("not-used", "fails"),
        (
            Way("",
                r"(?:(?:do|does|did) not (?:\w+ )?(?:have|see|get|show|contain|expose|list|find)|lacks?"
                r"|without any) (?:the |any |an? |our )?(?:\w+ )?<verbs tools>",
                r"errors?\b|firewall|bandwidth|\bslow|driver",
                r"vm|container|pod|docker|guest|inside|host|node|machine|server|job"),
            Way("",
                r"\bno (?:mlx[45]\w*|<verbs tools>) (?:in|inside|within|on|at|from) (?:the |my "
                r"|our )?(?:\w+ )?(?:container|pod|vm|guest|host|node|docker|machine|server)"),
            Way(
                r"<verbs tools>|mlx5_\d+",
                r"(?:there's|there is|there are|has|have|sees?) no|(?:do(?:es)? not|doesn't|don't|not|never"
                r"|won't) (?:\w+ )?(?:show\w* up|appear\w*|turn\w* up|come up|exist)|\bempty\b|no output"
                r"|nowhere",
                r"errors?\b|firewall|bandwidth|\bslow"),
            Way(
                r"<verbs tools>",
                r"<tells> (?:\w+ ){0,2}?(?:nothing|no\b|none|empty|zero|an? empty)|(?:comes?|came) (?:back"
                r"|up) (?:empty|with nothing)|(?:not|isn't|aren't|wasn't|never) (?:\w+ )?(?:visible|seen|found"
                r"|listed|detected|available|there|exposed|mounted|mapped|passed|accessible|present|exist\w*)"
                r"|no (?:\w+ ){1,3}?(?:visible|seen|found|listed|available|detected|there|present)|(?:is|are"
                r"|stays?|list is) empty|missing|invisible|absent|do(?:es)? not exist|doesn't exist|(?:cannot"
                r"|can't|can not|could not|couldn't|unable to|fails? to|do not|don't|does not"
                r"|doesn't) (?:\w+ )?(?:find|see|detect|list|open|discover)",
                r"errors?\b|firewall|bandwidth|\bslow",
            ),
            Way("",
                r"\bno (?:ib|rdma|infiniband|roce|mlx5|mellanox|efa|verbs) (?:\w+ )?(?:devices?|cards?|nics?"
                r"|adapters?|hcas?)(?: \w+)? (?:\w+ )?(?:found|visible|seen|listed|detected|available|in"
                r"|inside|there|within)"),
        ),
    ),
    Form(
        "above-a-size", "fails", ("fails", "hangs", "crashes", "wrong-results"),
        (
            Way("",
                r"(?:up to|until|till|below|under|smaller than|less than) <size> ... <bad>"
                r"|<fine> (?:\S+ ){0,3}?(?:up to|until|till|below|under) <size>",
                r"\bslow|gb/s|gbps|mb/s|bandwidth|throughput|ulimit|memlock|(?:systems?|hosts?|machines?"
                r"|servers?|nodes?) (?:with|that have|having)|memory (?:grows|usage)|(?:vram|gpu memory|ram"
                r"|disk)", r"<bad>"),
            Way(
                r"regist\w+|reg_?mr|ibv_reg\w*|pinn?(?:ed|ing|s)?\b|nvidia_peermem|nv_peer_mem\w*|gpudirect|gdr\w*",
                r"(?:above|over|beyond|more than|larger than|bigger than|greater than|exceed\w*|up to"
                r"|limit\w*) (?:\w+ ){0,3}?(?:about |~ ?)?\d+ ?[kmg]i?b\b"
                r"|(?:large|big|larger|bigger|small|smaller) (?:\w+ )?(?:buffers?|regions?|sizes?|ones"
                r"|messages?|allocations?|areas?)|limit (?:\w+ ){0,2}(?:size|amount|memory)",
                r"\bslow|gb/s|bandwidth|ulimit|memlock",
            ),
            Way(
                r"<fail>|<hang>|<wrong>",
                r"(?:above|over|beyond|more than|larger than|bigger than|greater than|longer than|exceed\w*"
                r"|(?:once|when|if|as soon as|at|until) .. (?:reach\w*|exceed\w*|hits?|crosses|passes"
                r"|goes (?:over|above|beyond))|at|reaches|from|>=?|starting (?:at|from|with)"
                r"|at least) (?:\w+ ){0,2}?<size>",
                r"\bslow|gb/s|gbps|mb/s|bandwidth|throughput|ulimit|memlock|(?:systems?|hosts?|machines?"
                r"|servers?|nodes?) (?:with|that have|having)|<several> gpus? hang|(?:vram|gpu memory"
                r"|host memory|ram|disk|cards?|gpus?) (?:of|with|has|have)|dataset|(?:takes?|after"
                r"|wait\w*) (?:more|longer) than|file",
                r"buffers?|messages?|tensors?|sizes?|counts?|elements?|allocat\w*|regist\w*|all_?-?(?:reduce"
                r"|gather|to)\w*|reduce\w*|broadcast\w*|send\w*|recv|\w+_perf|collectives?|cop(?:y|ies)"
                r"|transfers?"
                r"|small\w*|larger|bigger|greater|up to|below|<only>|exceed\w*|starting (?:at|from|with)"
                r"|(?:reach|cross|pass|hit)\w*"
                r"|everything|anything|<fine>",
            ),
            Way(
                r"<fail>|<hang>|<wrong>",
                r"(?:large|larger|big|bigger|huge) (?:\w+ )?(?:messages?|buffers?|tensors?|sizes?|counts?"
                r"|payloads?|allocations?|regions?|transfers?|ones)",
                r"\bslow|gb/s|bandwidth|throughput|ulimit|memlock|batch sizes?|context|models?|world",
                r"small\w*|tiny|short|up to <size>|below|<only>",
            ),
        ),
    ),
)  # fmt: skip
