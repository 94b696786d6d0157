"""The forms of what is slower than something else: than one GPU, than the others, than elsewhere."""

from __future__ import annotations

from ncdiag.parsers.user_text.forms.form import Form, Way

_HOSTS = r"(?:nodes?|hosts?|machines?|servers?|instances?)"
_ACROSS_HOSTS = (
    rf"\b(?:{_HOSTS} is|across |multi-?\s?nodes?|<several> {_HOSTS}|between (?:the )?{_HOSTS}"
    r"|wait\w* for|than (?:the |all |my |its ){0,2}others?|one of|older|previous|v[0-9])\b"
)
_SITE = (
    r"(?:clusters?|machines?|servers?|systems?|laptop|workstation|site|box|computers?|pc|desktop|data ?cent\w+"
    r"|provider|cloud|supercomputer|partition)"
)
_OFF = (
    r"(?:by hand|manually|interactiv\w*|bare[- ]metal|natively|directly(?: on| in)?|outside(?: of)? (?:slurm"
    r"|docker|(?:the |a )?container|k8s|kubernetes|the pod)"
    r"|without (?:the |a )?(?:scheduler|slurm|container|docker|kubernetes)|from (?:the|a) (?:shell|terminal|login))"
)
_ANOTHER = (
    rf"(?:{_OFF}|(?:another|an other|a second|the other|other|the old|our old|an old|my old|home|local|his|her"
    rf"|their|a different|different|the previous|a friend'?s|(?:my |our "
    rf"|a )?colleague'?s'?) (?:\w+ ){{0,2}}{_SITE})"
)
_OTHER_PLACE = rf"(?:{_ANOTHER}|(?:my|our) (?:\w+ ){{0,2}}{_SITE})"
_PLATFORM = (
    r"(?:slurm|sbatch|a batch job|the queue|docker|k8s|kubernetes|aws|gcp|azure|oci|colab|kaggle|runpod|lambda"
    r"|coreweave|on-prem\w*|p4d\S*"
    r"|p5\S*|wsl\d?|ssh|mpirun|srun|(?:the |a |k8s )?(?:pod|container|vm)s?)"
)
_THIS_PLACE = (
    r"(?:(?:the|our|my|this) (?:new |old |k8s )?(?:clusters?|machines?|servers?|systems?|box|dgx|workstation"
    r"|cloud|laptop|desktop|one)|on the (?:old|new|other) one)"
)
PLACE = rf"(?:{_OTHER_PLACE}|{_PLATFORM}|{_THIS_PLACE})"
_FASTER = (
    r"(?:(?:much |far |way |noticeably |significantly |a lot |<number> times |\d[\d.]*\s?x )?(?:faster|slower"
    r"|quicker|longer)|<number> times (?:as|so) (?:fast|slow|long|much)|(?:twice|half) (?:as |so )?(?:fast"
    r"|slow|long|the (?:speed|time|throughput))"
    r"|(?:a )?(?:third|half|quarter|tenth|fraction) of (?:what|that|the)|less than half)"
)
_NOT_ELSEWHERE = (
    r"bandwidth tests?|nccl-?\s?tests?|all_?-?reduce|between|connect|\bping|reach(?:es)? each|\bworks\b"
    r"|\bhangs?\b|\bfail|\berror"
)
_NOT_ONE_HOST = (
    rf"\b(?:than|compared (?:to|with)) (?:on )?(?:one|1|a|single) (?:\w+ )?{_HOSTS}|multi-?\s?node|scal\w+|\bper node"
    rf"|(?:than|on|with|as) (?:one|a single|single) {_HOSTS}\b|\bhang|\bcrash|\bfail|gpus? \d(?!\d\d)\b"
)
_NAMED = (
    r"(?:(?:node|host|server|machine|worker|box|blade) (?:[a-z]\b|\w{0,8}\d\w{0,6})|(?:n|cn|gn|gpu|node|dgx"
    r"|hgx|host|srv|compute|worker|c|server|machine)-?\d{1,4}(?:-\d{1,3})?|(?:node|host|server|worker"
    r"|machine)-[a-z]\b)"
)

FORMS = (
    Form(
        "with-more-gpus", "slow", ("slow",),
        (
            Way(r"<several gpus>",
                r"(?:as slow as|slower than|lower than|worse than|longer than|less than|fewer than"
                r"|no better than|not faster than|same as) (?:\S+ ){0,3}?<one gpu>", _ACROSS_HOSTS +
                r"|\b(?:loss|results?|accuracy|memory)\b"),
            Way(r"<several gpus>",
                r"(?:only|just|merely|barely|hardly) (?:\w+ ){0,3}?(?:[1-3]?[0-9]) ?(?:%|percent) (?:more|faster"
                r"|higher|better|quicker|gain|improvement|speed-?up)|(?:performs?|runs?|is|are"
                r"|does) (?:\w+ )?worse than (?:\w+ )?(?:one|1|a single|single)|the more (?:gpus|cards|ranks) ",
                _ACROSS_HOSTS),
            Way(
                r"<several gpus>|(?:adding|more|additional|extra) <gpu>",
                r"slower|no (?:\w+ )?(?:faster|speed-?\s?up|gains?|improvement|benefit)|not (?:any |much "
                r"|really |even )?faster|n't (?:any |much |really )?faster|hardly (?:any )?faster"
                r"|barely (?:any )?faster"
                r"|slows? (?:\w+ )?down|(?:twice|\w+ times|just|exactly) as (?:long|slow)"
                r"|tak(?:es?|ing) (?:\w+ ){0,2}(?:longer|more time)|took (?:\w+ )?longer|(?:longer|worse|less"
                r"|fewer|lower) (?:\S+ ){0,4}?than (?:with |on |when |using )?(?:\w+ )?(?:one|a single|single"
                r"|1|only one|just one)\b|(?:doesn'?t|does not|don'?t|do not|not) (?:\w+ )?(?:scal\w*"
                r"|speed (?:\w+ )?up|help)"
                r"|scal(?:es?|ing) (?:\w+ )?(?:is )?(?:badly|poorly|bad|poor|terrible|awful|sublinear)|(?:bad"
                r"|poor|terrible|no|negative) scaling|only as fast|not worth|(?:only|just|merely"
                r"|barely) (?:\w+ ){0,3}?1\.\d+\s?(?:x|times)|speed-?\s?up (?:is )?(?:of )?(?:only|just|about"
                r"|a mere)? ?[01]\.\d",
                _ACROSS_HOSTS),
            Way(
                r"<several gpus>|(?:number|count) of (?:gpus|cards)",
                r"same (?:\w+ )?(?:speed|time|throughput|rate|duration|samples\S*|tokens\S*|performance"
                r"|as (?:with |on |for )?(?:a )?(?:one|single|1))|(?:is|stays?|remains?|are"
                r"|was) (?:\w+ ){0,2}?(?:the )?(?:same|equal|identical|unchanged)",
                _ACROSS_HOSTS +
                    r"|\b(?:loss|results?|outputs?|accuracy|errors?|problem|issue|hang\w*|model|driver"
                    r"|version)\b",
                    r"(?:<speed>|<step time>|\btime\b|\bspeed|fast) ... (?:<one gpu>|one\b|single|regardless"
                    r"|no matter)|(?:<one gpu>|one\b|single|regardless|no matter) ... (?:<speed>|<step time>"
                    r"|\btime\b|\bspeed|fast)"),
            Way("",
                r"(?:no|zero|hardly any|barely any|little) (?:\w+ )?(?:speed-?\s?up|gain|improvement"
                r"|benefit) (?:\S+ ){0,4}?(?:from|with|going|using|adding|of) (?:\S+ ){0,4}?(?:gpus?|cards"
                r"|<several gpus>)", _ACROSS_HOSTS),
            Way("",
                r"[2-9]\s?x\s?<gpu> = (?:the )?same|<one gpu> (?:\S+ ){0,4}?(?:is|as|just as"
                r"|even)? ?(?:just as |as |even )?(?:fast|faster|quick|quicker) (?:\S+ ){0,4}?(?:as"
                r"|than) (?:\S+ ){0,2}?<several gpus>", _ACROSS_HOSTS),
        ),
    ),
    Form(
        "elsewhere", "slow", ("slow",),
        (
            Way(
                r"<slow>|longer|<speed>",
                r"than (?:on |in |with )?(?:the |our |my )?(?:old|older|other|previous|former) (?:ones?|<host>"
                r"|clusters?)\b|(?:in|inside|on|within) (?:the |a |our )?(?:vm|container|pod|docker"
                r"|guest) than (?:on|in) (?:the )?(?:host|hypervisor|metal)", _NOT_ELSEWHERE +
                r"|version|release|driver|gpus? than|other (?:nodes?|hosts?|machines?|servers?) in"),
            Way(PLACE,
                rf"(?:half|third|quarter|tenth|fraction) of (?:\w+ )?(?:the )?(?:{_ANOTHER}|{_PLATFORM})"
                rf"|(?:half|third|quarter|fraction|\d+\s?%) of (?:the )?on-prem", _NOT_ELSEWHERE),
            Way(
                rf"slow\w*|times as long|takes? (?:\w+ ){{0,3}}(?:\d|minutes|seconds|hours)|<speed>|{_FASTER}|behind",
                rf"(?:than|compared (?:to|with)|as|where|but|while|whereas|vs\.?|versus|against"
                rf"|behind) (?:\w+ ){{0,12}}?{_OTHER_PLACE}|(?:two|both|different|other) clusters",
                r"bandwidth tests?|nccl-?\s?tests?|all_?reduce|bandwidth|bus bw|busbw",
            ),
            Way(
                PLACE,
                rf"(?:than|compared (?:to|with)|but|while|whereas|and(?: only)?|vs\.?|versus|against"
                rf"|behind)(?: \S+){{0,6}}? {PLACE}|(?<=[,;])(?: \S+){{0,4}}? (?:{_OTHER_PLACE}|{_PLATFORM}"
                rf"|our \w+)|(?:than|as|so) (?:\w+ )?here",
                _NOT_ELSEWHERE,
                rf"slow\w*|{_FASTER}|way behind|only (?:\w+ )?\d|\d\s?(?:min|h|hours|s|[gm]b/s"
                rf"|it/s)\b .* \d\s?(?:min|h|hours|s|[gm]b/s|it/s)?\b",
            ),
            Way(
                _ANOTHER,
                r"(?:<number> times |twice |\d[\d.]*\s?x |much |far |way |a lot )?(?:faster|quicker|as fast)"
                r"|(?:twice|half) (?:the )?(?:speed|time|throughput)|(?:takes?|needs?|took) (?:\w+ )?(?:half"
                r"|a third|less)|(?:a )?(?:third|half|quarter|tenth|fraction) of what",
                _NOT_ELSEWHERE +
                    r"|than (?:one|a single|two|the old|our old|my old|before)|\b(?:as|than) (?:our|my"
                    r"|the) (?:old|other|previous)|with (?:one|two|a single) (?:gpu|card|node)",
            ),
        ),
    ),
    Form(
        "one-slow-gpu", "slow", ("slow",),
        (
            Way("",
                r"(?:<few>|all|most|the others?|every \w+) (?:\w+ )?(?:gpus?|cards?"
                r"|ranks?)? ?(?:\S+ ){0,4}?\d[\d.]* ?(?:t?flops|mhz|ghz|%|gb/s|ms|s|it/s|samples/s|w"
                r"|watt\w*) (?:and|but|while|except|whereas) (?:only |just )?(?:one|gpu \d+|rank \d+"
                r"|the (?:last|first|third|other) (?:one)?) (?:\S+ ){0,4}?\d",
                r"\bcrash|\bhang|nodes?|hosts?|with one|use one|for one",
                r"gpus?|cards?|ranks?"),
            Way(
                r"(?:gpu|rank|card|device|cuda:)\s?#?\d+\b|(?:one|a single) (?:of (?:the |our "
                r"|my )?(?:\w+ )?)?(?:<gpu>|ranks?\b)",
                r"(?:always |constantly |consistently |still )?(?:lags?|lagging|lagged|straggl\w*)\b|(?:twice"
                r"|\w+ times|\d+\s?%) (?:as |so )?(?:long|longer|slow|slower) (?:as|than) (?:<others>"
                r"|every\w+)",
                r"\bcrash|\bhang|lost|p2p|\bone gpu is|hosts?|than (?:one|with)"),
            Way(
                r"(?:one|a single|single|1) (?:of (?:the |our |my |these |those )?(?:\w+ )?)?(?:<gpu>"
                r"|ranks?\b)|(?:local )?(?:gpu|rank|card|device|cuda:)\s?#?\d+\b|(?:the |that )?(?:gpu"
                r"|card) (?:in|at|on) (?:slot|socket|port|bus|position) \w+|(?:the )?(?:same|first|second"
                r"|third|fourth|last) (?:gpu|card|rank)",
                r"(?:is |are |always |consistently |the ){1,3}(?:slowest|straggler|laggard|bottleneck)\b"
                r"|(?:is |are |always |consistently )(?:always |consistently |the ){0,2}(?:last|late|latest)\b"
                r"|slower by|(?:runs?|clocks?|sits|stays"
                r"|is) (?:\w+ ){0,2}?(?:at )?(?:only )?(?:at )?\d[\d.]* ?(?:mhz|ghz) ... <others>"
                r"|\d[\d.]*\s?(?:x|times) (?:that |the time |as much |longer |as long "
                r"|slower )(?:\w+ ){0,3}?<others>|(?:takes?|needs?|took) (?:\w+ ){0,4}?(?:longer|more time)",
                r"\bcrash|\bhang|lost|bandwidth between|than one\b|peer (?:access|memory|mapping)|p2p|storage"
                r"|<slow> (?:disk|network)"),
            Way(
                r"(?:one|a single|single|1) (?:of (?:the |our |my |these |those )?(?:\w+ )?)?(?:<gpu>"
                r"|ranks?\b)|(?:local )?(?:gpu|rank|card|device|cuda:)\s?#?\d+\b|that (?:one )?(?:gpu|card"
                r"|rank)|(?:the )?(?:first|second|third|fourth|last) (?:gpu|card)",
                r"(?:slower|lags?|lagging|behind|longer|less|lower) (?:\w+ ){0,4}?(?:than (?:<others>|any|all"
                r"|its|the)|behind <others>)|(?:than|behind) <others>|(?:drags?|dragged|holds? (?:\w+ )?back"
                r"|held (?:\w+ )?back|slows? (?:\w+ )?down|delays?|throttles?) (?:\w+ )?(?:<others>"
                r"|the (?:whole|entire)|everything|everybody)|(?:holds?|held|drags?|slows?) (?:back"
                r"|down) (?:the )?(?:whole|entire|all|everything|<others>)"
                r"|(?:drags?|dragg\w*) (?:<others>|all|everything|everyone)|clocks? (?:\w+ )?(?:down|to|at)"
                r"|(?:takes?|needs?|took) (?:\S+ ){0,5}?(?:the rest|<others>)|(?:barely|only|just"
                r"|about) (?:\w+ )?(?:half|a third|\d+\s?%)|(?:only|always) (?:\w+ )?(?:slow|throttl\w*)"
                r"|straggl\w*|\d+\s?(?:%|percent) slower|(?:at )?(?:half|a third|\d+\s?(?:%|percent)"
                r"|a fraction) (?:of )?(?:the )?(?:\w+ )?(?:of )?<others>|(?:lags?|lagging|lagged) behind"
                r"|below <others>",
                r"\bcrash|\bhang|lost|bandwidth between|than one\b|peer (?:access|memory|mapping)|p2p",
            ),
            Way(r"straggl\w*", r"(?:local )?(?:rank|gpu|card|device)s? ?\d+|(?:one|a single|same) (?:gpu|card|rank)"),
            Way("", r"(?:a|the|one) (?:very |much |particularly )?slow(?:er)? (?:gpu|card)\b(?! ?(?:memory|to))"),
            Way("",
                r"(?:all|every|everything|everywhere|others) ... (?:except|but|apart from|other than|only"
                r"|just) (?:for |on |in )?(?:gpu|card|rank|device|cuda:) ?\d+",
                r"hang|crash|fail|visible|listed",
                r"mhz|slow\w*|\d\s?%|gb/s|tflops|speed|watt|\bw\b|throttl\w*"),
            Way("",
                r"(?:equal|same|identical|fine|similar) (?:\w+ )?(?:everywhere|on all|for all"
                r"|across) (?:\S+ ){0,3}?(?:except|but|apart from|other than) (?:\S+ ){0,2}?(?:device|gpu|card"
                r"|rank) ?\d"),
            Way(
                r"(?:same|always|one|single|particular) (?:\w+ )?(?:gpu|card|rank)",
                r"straggl\w*|(?:is|runs) (?:\w+ )?slow(?:er)?\b",
                r"than (?:one|a single|with)|on (?:one|a single)|with (?:one|a single)|for (?:one|a single)"),
        ),
    ),
    Form(
        "one-slow-host", "slow", ("slow",),
        (
            Way(
                rf"(?:whenever|when|if|as soon as|every time|only when|only if"
                rf"|once) (?:\S+ ){{0,3}}?(?:{_NAMED}|(?:one|this"
                rf"|that) (?:\w+ )?{_HOSTS}) (?:\S+ ){{0,3}}?(?:in|part|included|involved|member|participates"
                rf"|joins|used|among|takes|present)",
                r"(?:bad|poor|low|worse|terrible) (?:performance|speed|throughput|bandwidth)|(?:performance"
                r"|speed|throughput|bandwidth|everything|it|job) (?:is|gets|was|becomes) (?:\w+ )?(?:bad|poor"
                r"|low|worse|terrible|slow|slower|half)", r"hang|crash|fail"),
            Way(_NAMED,
                r"(?:has|have|gives?|gets?|reach\w*|delivers?|shows?|with|had|got) (?:\S+ ){0,3}?(?:less|lower"
                r"|worse|poorer|half) (?:\w+ )?(?:performance|speed|throughput|bandwidth|flops|clocks?)"
                r"|which (?:is|runs) (?:\w+ )?slow(?:er)?|slower than (?:\w+ )?(?:<others>|\w+ \d)", _NOT_ONE_HOST),
            Way(_NAMED,
                r"(?:exclud\w*|remov\w*|without|leav\w* out|take \w+ out|took \w+ out|drain\w*|cordon\w*"
                r"|skip\w*) ... (?:normal|fast\w*|full speed|fine|back to|as expected|good)", _NOT_ONE_HOST,
                r"speed|slow\w*|fast\w*|throughput|bandwidth|performance|time"),
            Way(
                r"(?:always|again|consistently|every time) (?:on |with |from )?(?:the )?same (?:machine|node"
                r"|host|server)",
                r"late|slow\w*|straggl\w*|last|behind|lags?", _NOT_ONE_HOST),
            Way(_NAMED,
                r"(?:is |are |was |always |again |the ){1,3}(?:\w+ )?(?:straggler|laggard|bottleneck|slowest"
                r"|slow one|slow|late|culprit)\b|(?:computes?|runs?|trains?|performs?|works) (?:\w+ )?slower",
                _NOT_ONE_HOST),
            Way(
                rf"(?<!on )(?<!with )(?<!in )(?<!than )(?:(?:only |just )?(?:one|1|a single"
                rf"|single) (?:(?:out )?of (?:the |our |my |these |\d+ |\w+ ){{0,4}}{_HOSTS}"
                rf"|(?:\w+ )?{_HOSTS})|(?:a|this|that|one) (?:certain|particular|specific|single|one|slow|lame"
                rf"|bad|straggler|straggling) (?:\w+ )?{_HOSTS}|(?:slow|straggler|straggling) {_HOSTS}"
                r"|(?:node|host|server|machine|gpu|dgx|worker|compute|cn|gn|hgx|pod)[-_]?(?:\w{1,6}-)?\d{1,4}"
                r"|(?:node|host|server|machine|worker) [a-z]{1,8}-?\d{1,4})\b",
                r"(?:much |always |\d+% |[\d.]+\s?x )?(?:slower|slow|straggl\w*|lags?|lagging|drags?"
                r"|laggard)\b|(?:gives?|gets?|reach\w*|delivers?|shows?|has|with|giving) (?:\w+ ){0,3}?(?:less"
                r"|lower|worse|only|half) (?:\w+ )?(?:performance|speed|throughput|bandwidth|flops|\d)|(?:less"
                r"|lower|worse) (?:\w+ ){0,2}?(?:than|compared (?:to|with)) <others>"
                r"|delays? (?:\w+ )?(?:<others>|each|every|all|the)|(?:holds?|slows?"
                r"|drags?) (?:\w+ )?(?:<others>|everything|the (?:whole|entire)|everyone|it|us|all) ?(?:down"
                r"|back)?|\d+\s?% (?:of (?:the )?)?speed|takes? (?:twice|\w+ times|\d\S* times|longer)"
                r"|below <others>",
                rf"\b(?:than|compared (?:to|with)) (?:on )?(?:one|1|a|single) (?:\w+ )?{_HOSTS}|multi-?\s?node"
                rf"|scal\w+|\bper node|gpus? \d(?!\d\d)\b|(?:than|on|with|as) (?:one|a single"
                rf"|single) {_HOSTS}\b",
            ),
            Way(
                rf"(?:whenever|when|if|as soon as|every time|only when|once) (?:\S+ ){{0,3}}?(?:(?:node|host"
                rf"|server|machine|gpu|dgx|worker|compute|cn|gn|pod)[-_]?\w{{0,6}}-?\d{{1,4}}|(?:one|this|that"
                rf"|a) (?:\w+ )?{_HOSTS}) (?:\S+ ){{0,3}}?(?:in|part|included|involved|member|participates"
                rf"|joins|used|among|takes)",
                r"slow\w*|twice as long|longer|half (?:the|of)|<fall> .. <speed>|<speed> .. <fall>",
                r"hang|crash|fail"),
            Way(
                r"(?:all|every|any|most) (?:\w+ )?(?:pairs?|nodes?|hosts?|combinations?|machines?|servers?"
                r"|others?)\b",
                r"(?:just|only|except|but|apart from) (?:\S+ ){0,3}?(?:with|on|to|from|of|for"
                r"|involving)? ?(?:node|host|server|machine|gpu|dgx|worker|compute|cn|gn)[-_]?\d{1,4}\b",
                r"hang|crash|fail|\bworks?\b|reachable|ping",
                r"\d\s?[gm]i?b|slow\w*|\d\s?%"),
        ),
    ),
)  # fmt: skip
