"""The forms of what hangs, fails or is wrong: when, with how many, on which rank and with which data."""

from __future__ import annotations

from ncdiag.parsers.user_text.forms.form import Form, Way

_UNITS = (
    r"(?:gpus?|cards?|nodes?|hosts?|machines?|servers?|instances?|ranks?|process(?:es)?|workers?|devices?"
    r"|of them|<gpu>)"
)
_N = (
    r"(?:\d{1,5}|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|any (?:two|three|pair)|one or two"
    r"|two or \w+|\d+ (?:or|and|to|-) \d+)"
)
_NTH = r"(?:(?:a |the |my |our )?(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:rd|th|nd|st)|next))"
_VALIDATION = (
    r"(?:validation|validat(?:e|es|ing|or)\w*|evaluation|evaluat\w+|eval(?:s|_\w+)?|sanity[- ]check\w*"
    r"|val[_ ](?:loop|step|epoch|dataloader)|compute_metrics|test (?:loop|phase|set)|trainer\.(?:test|validate"
    r"|evaluate|predict)\w*|metrics? (?:computation|sync\w*|gather\w*|reduction))"
)
_EPOCH_END = (
    r"(?:(?:the |very ){0,2}(?:end|last (?:\w+ )?(?:batch|step|iteration)s?|final (?:\w+ )?(?:batch|step"
    r"|iteration)s?|tail) (?:of|in) (?:\w+ ){0,3}?epochs?|(?:after|when|once|as soon as|whenever|each time"
    r"|every (?:single )?time|at|till|until|completes|finish\w*|finished) (?:\w+ ){0,2}?(?:one|each|every"
    r"|the first|the|an|\d+|first|next) epochs?(?: (?:is|are|has|have|was)? ?(?:\w+ )?(?:over|done|finished"
    r"|complete\w*|ends?|ended|through))?"
    r"|between (?:the )?epochs|(?:last|final) (?:batch|step|iteration)s?|epochs? (?:ends?|boundar\w+"
    r"|is (?:over|done|finished|complete\w*)|finish\w*|completes?|transition|change)|(?:next|second|2nd"
    r"|following) epoch|(?:data ?)?(?:loader|dataset|iterator|data|sampler) (?:\w+ )?(?:runs (?:dry|out)"
    r"|is exhausted|ends|is (?:empty|over|through|at its end))|(?:9[5-9]|100)\s?% of (?:the |an "
    r"|each )?(?:\w+ )?epoch|after (?:finish\w*|complet\w*|the end of) (?:\w+ ){0,2}?epochs?|epoch \d+ is over"
    r"|stuck at (?:9[5-9]|100)\s?%"
    r"|epoch \d+ (?:is|was|has|ends?|ended|finish\w*|complet\w*|done)|(?:to|start\w*|enter\w*"
    r"|reach\w*) epoch (?:1|2|two)\b"
    r"|batch (?:less|fewer|more) than|(?:fewer|less) batches|(?:runs|ran) out of (?:data|batches|samples))"
)
_SAVING = (
    r"(?:\bsav(?:e|es|ed|ing)\b|checkpoint(?:s|ing|ed)?|save_\w+|ckpt\w*|(?:full )?state[_ -]?dict\w*"
    r"|writ(?:es|ing|ten|e) (?:\w+ ){0,3}?(?:checkpoint|model|weights|shards?|files?|state)|model export"
    r"|snapshot(?:s|ting)?)"
)
_FIRST_RANK = (
    r"(?:(?:on|by|for|in) (?:the )?(?:rank ?(?:0|zero)|(?:main|master|first|chief|leader|zeroth) (?:process"
    r"|rank|worker|gpu|node)|master|one rank|a single rank)(?: only| alone)?|(?:rank ?(?:0|zero)"
    r"|(?:the )?(?:main|master|first|chief) (?:process|rank|worker)|the (?:master|leader|chief)) (?:alone "
    r"|only |still )?(?:\w+(?:[^s]s|ed|ing)|is|does|was|enters?|goes|hits?|calls?|runs?|logs?|writes?"
    r"|evaluates?|saves?|downloads?|loads?|skips?|returns?|prints?|reaches|spends|takes|waits)"
    r"|rank_zero_only|is_main_process|is_rank_zero|\bget_rank\(\) ?== ?0|rank ?== ?0|(?:only|just) (?:one"
    r"|the first|rank ?(?:0|zero)|the (?:main|master)|a single)(?: (?:rank|process|worker|gpu))?|(?:one"
    r"|a single|1|some) (?:of the )?(?:ranks?|process(?:es)?|workers?) (?:\w+ )?(?:hits?|skips?|returns?"
    r"|leaves?|left|exits?|takes|calls?|enters?|does|goes|breaks|raises|continues|evaluates|saves|logs"
    r"|never (?:calls|enters|reaches)))"
)
_HANGS_HERE = r"<stuck>|watchdog|abort\w*"
_DATA = (
    r"(?:(?:certain|some|specific|particular|special|few|a (?:handful|couple) of|the same|those|these"
    r"|individual|single|bad|odd|weird|rare|unusual|corrupt\w*|problematic|long|longer|longest|large|short"
    r"|empty|different) (?:\w+ ){0,2}?(?:<plural data>|<datum>)"
    r"|(?:<datum>|<plural data>) (?:\w+ ){0,2}?(?:without|with no|that (?:has|have|skip\w*|contain\w*|lack\w*"
    r"|exceed\w*|do|does|are|is|hit|take)|where|which|whose|containing|lacking|missing|having|in which"
    r"|longer than|(?:is|are|was|were|happens to be|turns out) (?:\w+ )?(?:empty|too long|short|small|missing"
    r"|invalid|without)|skips?)"
    r"|(?:empty|incomplete|partial|degenerate) (?:<datum>|tensors?|targets?|masks?|labels?|<plural data>"
    r"|box(?:es)?|annotations?)|(?:the )?(?:content|contents|kind|type|composition|length|choice"
    r"|order) of (?:the )?(?:<datum>|data|inputs?))"
)

FORMS = (
    Form(
        "data-dependent", "fails", ("hangs", "fails", "crashes", "wrong-results", "slow"),
        (
            Way(r"<bad>",
                r"(?:when|whenever|if|once|as soon as|every time|because|where) (?:\S+ ){0,5}?(?:has|have"
                r"|having|gets?|got|receives?|contains?|with) (?:no|zero|not a single|empty"
                r"|without) (?:\w+ ){0,2}?(?:objects?|box(?:es)?|bbox\w*|labels?|masks?|annotations?|targets?"
                r"|positives?|instances?|detections?|foreground|samples?|tokens?|data)\b|(?:short|small|normal"
                r"|simple|most) (?:<plural data>) ... (?:long|large|big|longer|larger|other|some"
                r"|complex) (?:<plural data>)",
                r"batch ?-?sizes?|bandwidth|message sizes?|data ?loader|at the end|runs? out"),
            Way(r"<bad>",
                rf"(?:for|with|on|at|by|in) (?:\w+ )?(?:<datum>|<plural data>) (?:\w+ ){{0,2}}?(?:without"
                rf"|with no|that (?:has|have) no|lacking|missing|containing no|where no|longer than"
                rf"|shorter than)|(?:tied|linked|related|specific|limited|restricted|confined|due|down"
                rf"|traced) to (?:\S+ ){{0,3}}?{_DATA}|(?:tied|linked|specific|limited|restricted"
                rf"|confined) to (?:\S+ ){{0,3}}?(?:<datum>|<plural data>)",
                r"batch ?-?sizes?|bandwidth|message sizes?|data ?loader|shared memory|data-?parallel"),
            Way(
                r"<bad>|unused parameters?",
                rf"(?:<only>|always|exactly) (?:\w+ )?(?:with|on|for|in|when|if|where|during|at|by"
                rf"|from) (?:\S+ ){{0,3}}?{_DATA}|(?:<only>|always) (?:with|on|for|in"
                rf"|by) (?:\w+ )?(?:<plural data>)|(?:with|on|for|in|by) (?:\w+ )?{_DATA} <only>",
                r"batch ?-?sizes?|bandwidth|message sizes?|data ?loader|shared memory|data-?parallel|data ?cent"),
            Way(
                r"<bad>|unused parameters?",
                r"(?:when|whenever|if|once|as soon as|every time|each time|where"
                r"|because) (?:\S+ ){0,5}?(?:empty (?:<datum>|tensors?|targets?|masks?|labels?"
                r"|<plural data>)|(?:<datum>|images?|targets?) (?:\w+ )?(?:has|have|contains?|is|with|without"
                r"|lacks?|had) (?:\w+ )?(?:no|without|empty|zero|not|none))|(?:with|on|for"
                r"|at) (?:an? )?(?:empty|certain|some|specific|particular|a few|a handful of|the same"
                r"|those) (?:\w+ ){0,2}?(?:<plural data>|<datum>)|(?:depend\w*|depending) on (?:the |which "
                r"|what )?(?:\w+ )?(?:data\b|datum|<datum>|<plural data>|contents?|inputs?)",
                r"batch ?-?sizes?|bandwidth|message sizes?|data ?loader|shared memory|data-?parallel"
                r"|data ?cent|number of|at the end|(?:all|any) (?:kinds of )?data"),
            Way("",
                r"(?:certain|some|specific|particular|a few|a handful of|the same|those|bad|odd|long"
                r"|empty) (?:\w+ ){0,2}?(?:<plural data>|<datum>) (?:\w+ ){0,2}?(?:make|makes|made|cause"
                r"|causes|caused|trigger\w*|lead\w*|produce\w*|give|gives|gave|kill|kills|break|breaks|crash"
                r"|hang|fail|break|blow|freeze|let|lets)",
                r"batch ?-?sizes?"),
            Way("",
                r"(?:remov\w*|exclud\w*|filter\w*|skip\w*|drop\w*|without|leav\w* out"
                r"|left out) (?:\w+ )?(?:these|those|that|this|the (?:bad|empty|long|offending"
                r"|problematic)) (?:\w+ ){0,2}?(?:<plural data>|<datum>) ... <fine>"),
            Way(
                r"(?:a (?:handful|few)|some|certain|few|couple) (?:of )?(?:the )?(?:\w+ )?(?:<plural data>)",
                r"(?:the )?(?:others?|rest|remaining|all other\w*)(?: \w+)? (?:are|is|works?|goes?|run|pass"
                r"|train) (?:\w+ )?<fine>|<only> for (?:a |some|certain|few)", r"gpus|ranks|nodes"),
        ),
    ),
    Form(
        "second-step", "hangs", ("hangs",),
        (
            Way(
                r"(?:second|2nd|next) (?:(?:\w+ )?<step>|one\b)|after (?:exactly |only |just )?(?:the first"
                r"|one|1|a single) (?:\w+ )?<step>|(?:step|iteration|iter) (?:1|2|two)\b(?!\d)|in the second",
                r"<hang>",
                r"wait\w* for the|epochs?|minutes? after"),
            Way(r"<hang>",
                r"(?:first|one|step 0|step 1|iteration 0|iteration 1"
                r"|exactly one) (?:\w+ ){0,3}?(?:<step>)?(?: \S+){0,4}? (?:<fine>|done|prints|through"
                r"|works) ... (?:the )?(?:second|2nd|next|then|step 1|step 2|iteration 1|iteration 2)\b",
                r"epochs?|<several> hosts|node"),
            Way("",
                r"(?:exactly|only|just|ran|runs?|does|did|makes?|made|completes?|completed|gets?|got"
                r"|performs?) (?:exactly |only |just )?(?:one|1"
                r"|a single) (?:\w+ )?<step> (?:\S+ ){0,3}?(?:then|before|and) (?:\S+ ){0,3}?<hang>", r"epochs?"),
            Way("",
                r"(?:one|first|a single|step [01]|iteration [01]) (?:\w+ ){0,2}?(?:step|iteration|batch"
                r"|forward\S*|backward\S*|update|pass)? ?(?:<fine>|is done|completes) ... (?:the )?(?:second"
                r"|2nd|next|then|step [12]|iteration [12]|nothing) ... <hang>", r"epochs?|node"),
        ),
    ),
    Form(
        "validating", "hangs", ("hangs",),
        (
            Way("",
                rf"{_VALIDATION} (?:\w+ ){{0,2}}?<stuck>|<stuck> (?:\w+ ){{0,2}}?(?:in|during|at|while"
                rf"|when) (?:\w+ ){{0,3}}?{_VALIDATION}",
                r"evaluat\w+ (?:the )?(?:bandwidth|performance|hardware|options)|validation tests?"),
            Way(
                rf"(?:in|during|at|on|after|before|when|while|for|compute|run|enter\w*|the|as"
                rf"|with) (?:\w+ ){{0,3}}?{_VALIDATION}|trainer\.(?:evaluate|validate|test|predict)\S*"
                rf"|{_VALIDATION} (?:time|loop|step|phase|epoch|stage)|sanity check\w*", _HANGS_HERE,
                r"sav\w+ (?:\w+ )?checkpoint|evaluat\w+ (?:the )?(?:bandwidth|performance|hardware|options)"),
        ),
    ),
    Form(
        "saving", "hangs", ("hangs", "crashes", "fails"),
        (
            Way(_SAVING, _HANGS_HERE,
                r"load\w* (?:\w+ ){0,3}checkpoint|resum\w+|from (?:a |the )?checkpoint|checkpoint shards"
                r"|gradient checkpoint\w*|activation checkpoint\w*|load_state"),
        ),
    ),
    Form(
        "epoch-end", "hangs", ("hangs",),
        (
            Way(r"(?:done|through|finished|ready|over) (?:with )?(?:the )?(?:\w+ )?epoch(?: \d+)?",
                r"<stuck>", r"slow"),
            Way(_EPOCH_END,
                r"<stuck>|(?:nobody|no rank|none|nothing) (?:\w+ )?(?:moves?|goes|proceeds|starts)",
                r"slow|(?:second|after \w+) (?:step|iteration) "),
        ),
    ),
    Form(
        "on-one-rank", "hangs", ("hangs",),
        (
            Way(
                r"rank \d+|one (?:of the )?(?:ranks?|process|gpus?)|some ranks",
                r"<others> (?:\w+ )?(?:never|do not|don't|did not|didn't|does not|doesn't) (?:\w+ )?(?:call"
                r"|enter|reach|join|execute|take part|make|get|come|participate)",
                r"connect\w*|listen\w*|\bbind|port\b|killed|died|crash\w*|segfault|address|slow|epochs?|batch"),
            Way(_FIRST_RANK, r"<stuck>|stays? in",
                r"connect\w*|listen\w*|\bbind|port\b|killed|died|crash\w*|segfault|address"),
            Way(
                r"(?:one|a single|only one) (?:rank|process|worker|of the ranks)|rank \d+|one\b",
                r"(?:its|the) (?:other )?(?:peers|siblings|others?|rest|remaining \w+"
                r"|other \w+) (?:\w+ )?(?:stay|stays|wait\w*|remain\w*|are (?:stuck|waiting)|hang\w*"
                r"|is (?:stuck|waiting)|sit|sits|block\w*)|(?:everybody|everyone"
                r"|everything) else (?:\w+ )?(?:waits?|hangs?|blocks?|times? out|is stuck|is waiting|sits)",
                r"connect\w*|listen\w*|\bbind|port\b|killed|died|crash\w*|segfault|address|slow|epochs?|gpu|batch"),
        ),
    ),
    Form(
        "from-a-number", "fails", ("fails", "hangs", "crashes"),
        (
            Way("",
                rf"(?:cannot|can't|can not|won't|will not|unable to|impossible to|fails? to) (?:\w+ )?(?:scale"
                rf"|go|get|run|start|train|launch|work) (?:past|pass|beyond|above|over|with more than"
                rf"|on more than) (?!1\b){_N} (?:\w+ )?(?:gpus?|cards?|nodes?|hosts?|machines?|servers?|ranks?"
                rf"|process(?:es)?|workers?|cores|tasks)", r"slow|bandwidth"),
            Way(
                r"(?:any (?:two|2|three|pair)|<several>) (?:\w+ ){0,3}?(?:gpus?(?:'s)?|cards?"
                r"|of them) (?:\w+ ){0,4}?(?:works?|working|fine|runs?|trains?|ok)|up to \d+",
                r"(?:with|on|as soon as|adding|use|using) (?:all )?(?:the |a )?(?:third|fourth|fifth|3rd|4th"
                r"|[3-9]|three|four|five|six|seven|eight)\b",
                r"(?:longer|slower|faster|same|slow) ",
                r"<bad>|not|n't|no\b",
            ),
            Way(
                r"<bad>|don't\b|do not\b|doesn't\b|does not\b|won't\b",
                rf"(?:up to|till|until|with|on|at|for|below|fewer than|less than"
                rf"|under)? ?{_N} (?:\w+ )?{_UNITS}(?: \S+){{0,3}}? (?:<fine>"
                rf"|we are good)(?: \S+){{0,5}}? (?:{_N}|{_NTH}|more|all)\b",
                r"(?:longer|slower|faster|same|slow|bandwidth|gb/s|mb\b|gb\b|kb\b|minutes?|hours?|epochs?|steps?) "),
            Way(r"<fail>|<hang>",
                rf"(?:anything|everything|as soon as|whenever|once|with|on|for|from|always|starting|it is"
                rf"|beyond|only)? ?(?:beyond|above|more than|over(?= \d\d)|exceed\w*|larger than|greater than"
                rf"|>=?|from) (?:\w+ )?(?!1\b){_N} (?:\w+ )?(?:gpus?|cards?|nodes?|hosts?|machines?|servers?"
                rf"|instances?|ranks?|process(?:es)?|workers?|cores|tasks)\b",
                r"slow|bandwidth|more than one|timeout of|(?:mb|gb|kb|minutes?|hours?|epochs?|steps?)\b"
                r"|different|between|<several> (?:gpus|nodes) (?:is|are) (?:used|available)"),
            Way(r"<fine>",
                rf"(?:add\w*|with|using|use|include|attach\w*|plug\w*) {_NTH} (?:\w+ )?(?:gpus?|cards?|nodes?"
                rf"|hosts?|machines?|servers?|one)\b ... <bad>", r"slow"),
        ),
    ),
    Form(
        "wrong-with-several", "wrong-results", ("wrong-results", "fails"),
        (
            Way(r"<several gpus>",
                r"(?:different|worse|wrong|bad) (?:\S+ )?(?:results?|loss(?:es)?|outputs?|accurac\w+|answers?"
                r"|predictions?|gradients?) (?:\S+ ){0,2}?(?:than|from|compared|to) (?:\S+ ){0,2}?(?:one\b"
                r"|a single|single|1\b)",
                r"<several> <host>|multi-?\s?nodes?|\b(?:no|not) (?:\w+ )?different"),
            Way(r"<several gpus>",
                r"(?:returns?|produces?|outputs?|generates?|gives?|yields?|answers?|prints?|emits?|talks?"
                r"|writes?) (?:\w+ ){0,2}?<wrong>",
                r"<several> <host>|multi-?\s?nodes?|nccl_\w+|\b(?:not|never) (?:\w+ )?nan|also (?:on"
                r"|with) (?:one|a single)|errors?\b"),
            Way(
                r"<several gpus>",
                r"\bnans?\b|garbage|gibberish|<result> (?:\w+ ){0,7}?(?:<wrong>|random|chance|worse|bad"
                r"|different|zeros?)|(?:not|n't|never) converge\w*|wrong (?:\w+ )?(?:results?|values?|output"
                r"|data|answers?)|corrupt\w*|nonsense|(?:pure |in )noise|outputs? (?:\w+ )?(?:garbage"
                r"|gibberish|nonsense)|is (?:\w+ )?(?:wrong|garbage|nan)|answers? (?:\w+ ){0,2}?(?:garbage"
                r"|gibberish|nonsense|noise)|diverge\w*",
                r"<several> <host>|multi-?\s?nodes?|nccl_\w+|\b(?:not|never) (?:\w+ )?nan"
                r"|wrong (?:\w+ )?(?:gpu|card|device|nic|interface|version|number)|(?:with"
                r"|on) one (?:gpu )?(?:as well|too|also)|also (?:on|with) (?:one|a single)",
            ),
            Way(
                r"<one gpu>|single[- ](?:gpu|card)|tp ?= ?1",
                r"<fine> ... (?:<several gpus>|multi\w*|both|on two|with two|tp ?= ?[2-9]) ... <wrong>"
                r"|(?:<several gpus>|multi\w*|both) ... <wrong>|<wrong> (?:\S+ ){0,3}?(?:with|on|under|using"
                r"|over|across) (?:\S+ ){0,2}?(?:<several gpus>|multi\w*|both|two|tp ?= ?[2-9])",
                r"<several> <host>|multi-?\s?nodes?|\b(?:not|never) (?:\w+ )?nan|also (?:on|with) (?:one|a single)",
            ),
        ),
    ),
    Form(
        "at-random", "hangs", ("hangs",),
        (
            Way(r"<stuck>",
                r"\d+ ?(?:%|percent) of (?:the |all |our |my )?(?:runs|jobs|times?|attempts|starts|launches"
                r"|cases)|(?:at|after|in|on)? ?(?:step|iteration|epoch|minute|hour) \d+ or (?:\w+ )?\d+"
                r"|(?:once|twice) (?:in )?(?:a|every) (?:\w+ ){0,3}?(?:days?|weeks?|hours?|runs)|(?:rarely"
                r"|unpredictabl[ey]|irregular(?:ly)?|erratic(?:ally)?)\b", r"data ?loader"),
            Way(
                r"random(?:ly)?|sporadic\w*|intermittent\w*|occasional\w*|sometimes|(?:every )?now and (?:then"
                r"|again)|from time to time|once (?:a|in a|every \w+) ?(?:day|while|week|few)"
                r"|non-?\s?determin\w*|unpredictab\w*|no (?:\w+ )?pattern|(?:never|not"
                r"|n't) (?:\w+ )?(?:always )?(?:at |in |on )?(?:the )?same (?:place|step|iteration|point|spot"
                r"|epoch|time|batch|rank|position|moment|line)|(?:always |each time |every time )?(?:at|in"
                r"|on) (?:a )?different (?:place|step|iteration|point|epoch|time|position|moment|spot|rank)s?"
                r"|flak(?:y|iness)|not (?:always|every time|each time|reproducib\w*|deterministic)|(?:one|1"
                r"|two|2|\d+) (?:run|job|attempt|time|launch|start)s? (?:in|out of|of) (?:\w+ )?\d*"
                r"|(?:<few>) (?:in|out of|of) (?:\w+|\d+) (?:runs?|jobs?|attempts?|times?|launches|starts)"
                r"|every (?:\w+ )?(?:second|third|fourth|few|other|couple of) (?:runs?|jobs?|times?|attempts?"
                r"|days?|hours?|weeks?)|once or twice (?:a|per) \w+|(?:once|twice|\w+ times) (?:a|per) (?:day"
                r"|week|night|month)|(?:only )?(?:in|on|with) (?:some|a few|certain) (?:runs|jobs|attempts"
                r"|starts)|(?:is|are|was) ?(?:n't|not) (?:\w+ )?reproducible|irreproducible|after (?:a (?:few"
                r"|while|random \w+)|some|several|many|\d+|about|an) ?(?:\w+ ){0,2}(?:hours?|days?|steps"
                r"|iterations|epochs|while|h\b)|irregular\w*|at arbitrary|arbitrar\w*|by chance"
                r"|hard to reproduce|for (?:hours|days) (?:or|then|and)",
                r"<hang>", r"gpus? waits? (?:in|for|on) (?:\S+ ){1,4}?of the time",
            ),
        ),
    ),
)  # fmt: skip
