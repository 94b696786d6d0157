"""The words of complaints, by kind of trouble: what a sentence speaks of, and what it says of that.

A class of subjects and a class of predicates stand for all their combinations, so a word is written once. The patterns
are verbose and ignore case; a hyphen or a full stop within a word is part of it.
"""

from __future__ import annotations

from ncdiag.parsers.user_text import troubles

_WORD = r"[\w'./%$-]+,?"


def _gap(most: int) -> str:
    """At most so many words between two others, with the space before each."""
    return rf"\s(?:{_WORD}\s){{0,{most}}}?"


_NEVER = r"(?:not|\w{2,6}n't|never|no\slonger|nor|neither|cannot|unable\sto|fails?\sto|failed\sto|refuses?\sto)"
_NUMBERS = (
    "result", "results", "number", "numbers", "value", "values", "curve", "bandwidth", "busbw", "throughput", "timing"
)  # fmt: skip
_STILL = "".join(rf"(?<!{word}\s{verb})" for word in _NUMBERS for verb in ("", r"does\s", r"do\s", r"did\s"))
"""Not after a number: a result that "does not move" is unchanged, which is not a hang."""
_FOREVER = (
    r"(?:forever|indefinitely|infinitely|endlessly|eternally|in\svain|for\sgood|for\s(?:many\s|several\s|\d+\s)?"
    r"(?:hours|minutes|days)|(?:the\swhole|all)\s(?:night|day|weekend|morning|evening))"
)
_HARD = r"(?:completely|totally|just|simply|suddenly|always|still|all|then|really|so|too|quite|pretty|rather|very)\s"
_RESULT = (
    r"(?:results?|outputs?|values?|sums?|answers?|gradients?|grads?|loss(?:es)?|weights|parameters|embeddings?|logits"
    r"|predictions?|completions|checksums?|accuracy|perplexity|elements?|replicas?|(?:generated\s)text|scores?)"
)
_FALSE = (
    r"(?:garbage|garbled|gibberish|nonsense\w*|rubbish|junk|trash|corrupt\w*|scrambled|uninitiali[sz]ed|stale"
    r"|inconsistent|incorrect\w*|wrong(?:ly)?|bogus|messed\sup|zeros?|mismatch\w*)"
)
_MEMORY = (
    r"(?:memory|ram|vram|rss|hbm|swap|object\sstore|dev/shm|heap"
    r"|file\s(?:descriptors|handles|mappings)|fds)"
)
_TAKEN = r"(?:\s(?:usage|consumption|use|footprint|utili[sz]ation|allocation|reserved|allocated))?"
_GROW = (
    r"(?:(?<!was\s)(?<!were\s)(?<!be\s)(?<!been\s)increas(?:es|ing|ed)|(?:is|are|getting|gets)\sincreas\w+"
    r"|grow(?:s|ing|n)?|grew|ris(?:es|ing)|rose|climb(?:s|ing|ed)?|creep(?:s|ing)?|crept|swell(?:s|ing|ed)?|swollen"
    r"|balloon(?:s|ing|ed)?|bloat(?:s|ing|ed)?|pil(?:es|ing|ed)\sup|accumulat(?:es|ing|ed)|build(?:s|ing)?\sup"
    r"|built\sup|fill(?:s|ing|ed)?\sup|leak(?:s|ing|ed)?|goes\sup|going\sup|went\sup"
    r"|(?:gets?|got|getting|becom(?:es?|ing)|became)\s(?:more\sand\smore|bigger|larger|fuller|higher|longer)"
    r"|(?:goes|went|going)\sfrom\s\d+)"
)
_MEANWHILE = r"\s(?:(?!(?:not|never|no)\b)(?!\w{2,6}n't)[\w'./%$-]+,?\s){0,5}?"
"""Words between the two that deny nothing."""
_SPEED = (
    r"(?:bandwidths?|throughput|performance|speed|busbw|algbw|scaling|mfu|t?flops|latenc(?:y|ies)|transfers?|goodput"
    r"|(?:tokens?|samples|images|steps|iterations)(?:/s(?:ec)?|\sper\ssecond)|tok/s|it/s|perf)"
)
_RATE = rf"(?!latenc){_SPEED}"
"""Of what a low value is bad."""
_BAD = (
    r"(?:terrible|horrible|awful|abysmal|dismal|miserable|pathetic|ridiculous(?:ly)?|disappointing|underwhelming"
    r"|poor|bad|low|weak|sluggish|degraded|suboptimal|unacceptabl[ey]|atrocious|way\soff|far\soff)"
)
_TIMES = r"(?:\d+\s?x|\d+(?:\.\d+)?\stimes|twice|double|(?:two|three|four|five|six|ten|several|many)\stimes)"
_SHARE = r"(?:half|third|quarter|fifth|sixth|eighth|tenth|fraction)"
_MEANS = (
    r"(?:infiniband|ib|rdma|roce|gdr|gpu-?\s?direct(?:\srdma|\sstorage)?|nvlinks?|nvswitch(?:es)?|nvls|p2p"
    r"|peer-?\s?(?:to-?\s?peer|access)"
    r"|efa|sharp|collnet|ucx|(?:net(?:work)?\s|nccl\s|ofi\s|hpc-?x\s)?plugins?|hcas?|nics?|rails?|mlx\d?\w*|adapters?"
    r"|(?:ib|infiniband|network|mellanox|roce|second)\s(?:cards?|ports?|interfaces?|devices?)|shared\smemory|shm"
    r"|gpus?|cuda|dma-?_?buf|links?|custom\sall-?_?reduce)"
)
_OFF = (
    r"(?:ignored|skipped|bypassed|unused|inactive|unsupported|unavailable|left\s(?:out|unused|alone)"
    r"|doing\snothing|not\sthere|missing)"
)
_USED = (
    r"(?:us(?:e|ed|ing)|taken?|picked|pick|cho(?:ose|sen)|select(?:ed)?|load(?:ed)?|found|find|detect(?:ed)?|seen?"
    r"|recogni[sz]\w*|enabl\w*|activ\w*|available|utili[sz]\w*|touch(?:es|ed)?|visible|supported|listed|kick(?:s"
    r"|ed)?\sin)"
)
_THINGS = (
    r"(?:gpus?|nics?|devices?|interfaces?|cards?|hcas?|ports?|nodes?|hosts?|ranks?|process\w*|links?|lines?"
    r"|cores?|cpus?|vfs?)"
)
_SLOW_WAY = (
    r"(?:tcp|sockets?|ethernet|(?:the\s)?management\s\w+|host\s(?:memory|ram)|system\smemory"
    r"|(?:the\s)?cpu|docker0|loopback|(?:\d+\s?)gbe?|(?:plain\s)?pcie)"
)
_ACTORS = r"(?:process(?:es)?|ranks?|gpus?|jobs?|logs?|workers?|training|trainers?|program|script|run|output)"
"""What says something as long as it works."""
_LOOP_OF_KUBERNETES = r"crash-?loop-?(?:back-?off|ing)?|restarts?\sover\sand\sover"

_MEMBERS = (
    r"(?:workers?|nodes?|ranks?|hosts?|pods?|process(?:es)?|gpus?|tasks?|machines?|servers?|clients?|replicas?"
    r"|executors?)"
)
"""What a job consists of."""
_MEMBER = rf"(?={_MEMBERS}\b)\w+"
"""One of them, as a lookahead: so the words that follow preselect the lines, as programs often name members."""
_APPEAR = r"(?:shows?\sup|joins?|appears?|registers?|connects?|comes?\s(?:up|online|back)|starts?)"
_MEANT = (
    r"(?!\s?,?\s(?:by\sdesign|on\spurpose|as\s(?:intended|planned|designed|scheduled|expected|(?:it|they)\sshould)))"
)
_OTHER_START = r"(?!\s(?:an?|the|any|jobs?|with\s(?:an?|the)\s(?:new|old))\b)"
"""Refuses an object that a member starts or registers: ``starts a web server``."""
_AT_END = r"(?=\s?(?:[.,;!?]|$))"
_AGAIN = (
    r"(?:again\sand\sagain|repeatedly|constantly|continuously|over\sand\sover|in\sa\sloop|endlessly|all\sthe\stime"
    r"|every\s(?:few\s|\d+\s)?(?:seconds?|minutes?|hours?|nights?))"
)

_NOT = r"(?:not|n't|never|cannot|unable\sto|fails?\sto|failed\sto|refuses?\sto)\s(?:\w+\s){0,2}"
_UNDONE = (
    r"(?![^.;]{0,40}\s(?:when|once|after)\s(?:\w+\s){1,2}(?:is|are|has|have|was|were)\s"
    r"(?:done|finished|completed|over))"
)
"""Nothing is lost when it is done."""
_PER_SECOND = r"(?:about\s|around\s|roughly\s|~\s?)?\d[\d.,]*\s?[GM](?:i?B(?:/s|ps)|[Bb]its?/s|[Bb]it|b/s|bps)"
"""A rate, with its unit."""
_RELEASED = (
    r"(?:(?:nccl|rccl|cuda|rocm|driver|(?:py)?torch|(?:open\s?)?mpi|ubuntu|rhel|kernel)\s(?:v?\d|version|release)"
    r"|v\d|version|release|\d+\.\d)"
)
_STUCK = (
    r"(?:(?<!we\sare\s)(?<!we['\u2019]re\s)(?<!i\sam\s)(?<!i['\u2019]m\s)(?<!people\sare\s)(?<!users\sare\s)(?<!they\sare\s)stuck"
    rf"|stuck(?!\s(?:on|at)\s(?:an?\s|the\s)?(?:old(?:er)?\s)?{_RELEASED})"
    r"(?!\swith\s(?:(?:the|this|that|our|an?)\s)?(?:old(?:er)?\s)?(?:[a-z]+\s)?(?:v?\d|version|release|driver)))"
    rf"(?!\s(?:at|around|below|on)\s(?:{_PER_SECOND}))"
)
"""``stuck`` for a hang: not at a rate, and not of people who cannot upgrade ("we are stuck with 2.20")."""
_HANGS = rf"""
    hang(?:s|ing|ed)? | hung | {_STUCK}
  | freez(?:e|es|ing) | froze | frozen(?!\sby\b) | stall(?:s|ed|ing)? | deadlock\w*
  | blocks?\sforever | waits?\sforever | forever | no\sprogress | unresponsive | time[sd]?\s?-?out
  | stop(?:s|ped)\s(?:responding|moving|progressing|(?:at|after|in)\s(?:\w+\s)?(?:steps?|iterations?|epochs?|\d))
  | (?:training|job|run|program|process(?:es)?)\s(?:to\s)?(?:stops?|stopped) | (?:not|n't)\sproceeding
  | stays?\s(?:at|in)\s(?:the\s)?(?:init\w*|start\w*|step|epoch)\b
  | wedg(?:es?|ed|ing) | livelock\w* | spins?\sforever
  | lock(?:s|ed)?\sup(?!\s(?:memory|to)) | timing\sout | timeouts? | sits\s(?:there
  |idle) | just\ssits
  | (?:been|is|are|keeps?|just)\ssitting | st(?:ands?|anding|ood)\sstill | (?:gets?|got|goes|went|comes)\sno\sfurther
  | (?:not|n't|never)\s(?:\w+\s)?(?:(?:get|go|come|move)(?:s|ting|ing)?\s(?:any\s)?further
  |continues?|proceeds?|advances?)
  | (?:no|without)\s(?:further\s|more\s|new\s|any\s)?(?:output|logs?|lines?|logging)\s(?:for|since|after|any\s?more)
  | nothing\s(?:moves|happens|progresses|(?:else|more|further|new)\s(?:is|was|gets|comes|appears|follows|happens))
  | (?:not|n't|stops?|stopped)\s(?:moving|progressing)
  | (?:not|\w{{2,6}}n't)\s(?:moved|advanced|progressed)
  | blocked | (?<!thread\s)(?<!the\s)blocks\s(?:in|at|on|between|during|when|there|while|after|there)\b
  | (?:does|do|did)(?:n't|\snot)\s(?:\w+\s)?(?:exit|begin|respond|progress|return|come\sup|get\s(?:ready|past))
  | never\s(?:comes|arrives|connects?|joins?|prints?|reaches|leaves|returns?|ends?|finish\w*|complet\w*|starts?|gets?
    |begins?|produces?|becomes?|responds?|proceeds?|appears?)
  | (?<!node\s)(?<!nodes\s)(?<!cluster\s)(?<!machine\s)(?<!server\s)
    (?:wait|block|hang|sit|stay|remain|spin|loop)(?:s|ing|ed)?(?!\s(?:up|online|alive|healthy|stable)\b){_gap(6)}{_FOREVER}
  | (?:infinite|endless|eternal)\s(?:wait\w*|loop\w*|hang\w*)
  | (?:remain|stay)(?:s|ed)?\s(?:standing|silent|quiet|motionless)
  | (?:goes|went|falls|fell|gets|becomes|became)\s(?:{_HARD})?(?:silent|quiet|catatonic)
  | {_ACTORS}(?:\s\d+)?\s(?:\w+\s){{0,2}}?(?:is|are)\s(?:{_HARD})?(?:silent|quiet)(?!\s(?:about|on|by|in|mode))
  | (?:there(?:'s|\sis)\s)(?:{_HARD}|only\s)?silence
  | (?:and|then|that|after\swhich|from\sthere)\s(?:{_HARD}|it\s)?nothing
    (?:\s(?:for|at\sall|any\s?more|comes|happens|moves|until|since)|\s?[.,;!]|\s?$)
  | nothing\s(?:for|since)\s(?:\w+\s)?(?:hours|minutes|\d+)
  | {_STILL}{_NEVER}\s(?:\w+\s){{0,2}}(?:moved|budged|budge|move)
  | {_NEVER}\s(?:\w+\s){{0,2}}(?:advanced|advance|come\sback|comes\sback
    |return(?:s|ed)?|answer(?:s|ed)?|respond(?:s|ed)?|finish(?:es|ed)?|complet(?:es?|ed)|terminat(?:es?|ed)|ends?|exits?
    |reached|proceed\w*|continu\w*|progress(?:es|ed)?|make\s(?:any\s)?progress|get(?:s)?\s(?:past|beyond|through
      |anywhere))
  | (?:stops?|stopped|ceases?|quit)\s(?:making\s(?:any\s)?progress|(?:doing\s)?(?:anything|everything)|printing|logging
    |to\s(?:make|respond|print|log))
  | (?:no|zero|without)\s(?:forward\s|further\s|visible\s)?progress
  | (?:comes?|came|grinds?|ground)\sto\s(?:a|an)\s(?:\w+\s)?(?:halt|standstill|stop)
  | until\s(?:i|we|you)\s(?:\w+\s)?(?:kill|cancel|abort|interrupt|ctrl)\w*
  | (?:stay|remain|idle|sit)(?:s|ed)?{_gap(5)}(?:until|till){_gap(4)}(?:limit|wall-?time|time-?limit)
  | sat{_gap(5)}(?:until|till){_gap(4)}(?:limit|wall-?time|time-?limit)
  | (?:have|had|need)\sto\s(?:\w+\s)?(?:kill|ctrl-?c|interrupt)(?:\sit)?(?:\sby\shand)?
  | ctrl-?\+?c\s(?:\w+\s){{0,3}}(?:not|n't|through|nothing|ignored)
  | lock(?:s|ed)?\s(?:solid|hard) | (?:seizes?|seized)\sup
  | (?:keeps?|kept|still|all|both|are|is|just)\swait(?:s|ing)?\s(?:for|on)\s
    (?:each\sother|one\sanother|the\sothers?\b){_MEANT}
"""
_WRONG = rf"""
    (?:is|are|all)\s(?:all\s|always\s)?incorrect | wrongs | (?:errors?\sof\s)out\sof\sbounds\svalues
  | (?:wrong|incorrect|corrupt\w*|inconsistent|abnormal)\s(?:\w+\s){{0,2}}(?:results?|values?|outputs?|data|sums?
    |gradients?|answers?)
  | (?:loss(?:es)?|gradients?)\s(?:\w+\s){{0,3}}(?:nan|diverge[sd]?|explodes?) | nans
  | (?:nan|inf|infinite)\s(?:errors?|loss(?:es)?|values?|outputs?|gradients?|results?)
  | (?:returns?|gives?|yields?|produces?)\s(?:\w+\s)?(?:zeros?|garbage|nans?)
  | (?:gradients?|results?|values?|outputs?|sums?|data)\s(?:\w+\s){{0,3}}(?:is|are|was|were)\s(?:\w+\s)?
    (?:garbage|wrong|corrupt\w*|inconsistent|incorrect)
  | (?:loss(?:es)?|gradients?|results?|weights|values|outputs?)\s(?:\w+\s){{0,2}}(?:differs?|different|mismatch\w*)
  | {_RESULT}{_gap(6)}(?:{_FALSE}|off\sby|out\sof\s(?:order|sync)|(?:at\s)?chance\slevel|in\sthe\swrong\s\w+)
  | {_RESULT}{_gap(3)}{_NEVER}\s(?:\w+\s){{0,2}}(?:match\w*|agree\w*|equal|identical|correct|right|the\ssame
    |reproduc\w*)
  | (?:results?|outputs?|gradients?|weights|replicas?|sums?|values?|checksums?)\s(?:\w+\s){{0,3}}
    (?:differ(?:s|ed|ent)?|drift(?:s|ed|ing)?\sapart|diverg(?:e|es|ed|ing))
  | (?:different|wrong|inconsistent|incorrect|corrupt\w*|false)\s(?:\w+\s)?{_RESULT}
  | (?:returns?|returned|gives?|gave|gets?|got|getting|yields?|yielded|produc(?:es?|ed|ing)|outputs?|emits?|prints?
    |spits?\sout|hands?\s(?:me\s)?back|delivers?|receiv\w+|reads?|contains?|holds?|see|seeing){_gap(4)}
    (?:garbage|garbled|gibberish|nonsense|rubbish|junk|corrupt\w*|stale\s(?:data|values)|uninitiali[sz]ed
    |someone\selse's|messy\scode)
  | (?:silent\s)?(?:data|memory|numerical)\scorruption | nonsense\s(?:text|output|tokens)
  | (?:model|training|loss|network|it|run)\s(?:\w+\s){{0,3}}(?:not|n't|never)\s(?:\w+\s)?(?:converg\w*|learn\w*|go\sdown
    |decreas\w*|improv\w*)
  | (?:{_NEVER}\s(?:\w+\s)?|fails?\sto\s)(?:converge|match\sthe\s(?:reference|expected|single|baseline|published)\w*)
  | (?:not|n't)\s(?:\w+\s)?matching(?:\swith)?\s(?:the\s)?(?:expected|reference|baseline|single)\b
  | (?:zeroed|(?:become|becomes|is|are)\s(?:all\s)?(?:zeros?|garbage)
    |(?:tensors?|data|values?|contents?)\s(?:\w+\s){{0,2}}(?:changes|changed))
    \s(?:\w+\s){{0,2}}?(?:when|after|by|on|while|once)\s(?:\w+\s){{0,3}}?(?:mov\w+|cop(?:y|ied|ying)|switch\w*|transfer\w*)
    \s(?:\S+\s){{0,4}}?(?:devices?|gpus?|cards?|cuda)\b
  | loss\s(?:\w+\s){{0,3}}(?:plateaus?|stays?\sflat|is\sflat|blows?\sup|blew\sup|spikes?)
"""
_SLOW = rf"""
    slow(?:er|ly|down|s)? | (?:latency|latencies|(?:step|iteration)\stimes?|overhead)\s(?:\w+\s){{0,5}}
    (?:up|rose|risen|increas\w+|grew|grown|doubled|tripled|higher|jumped|worse)
  | \d\s?(?:it|iters?|steps?|samples?|tok(?:ens?)?|images?|imgs?|[GMT]i?[Bb](?:its?)?)/s(?:ec)?
    ,?\s(?:but\s)?(?:it\s|this\s)?should\s(?:be|reach|get|have\sbeen)\s(?:{_WORD}\s){{0,2}}?~?\d
  | (?:comms?|communications?|all-?reduces?|collectives?)\s(?:\w+\s){{0,3}}?
    (?:not|n't|no\slonger|never)\s(?:\w+\s)?overlap\w*
  | only\sas\sfast | (?:faster|quicker)\sthan\s(?:me|mine|us|ours)\b | (?:is|are|gets?)\s(?:\w+\s)?terrible
  | (?:falls?|fell|drops?|dropped)\s(?:\w+\s){{0,3}}?(?:to|from)\s\d
  | (?:is|are|was|much|far|way)\s(?:\w+\s)?lower\sthan | \d+\s?(?:%|percent)\s(?:slower|lower|worse|less|longer)
  | (?:performance|perf|bandwidth|throughput|speed)\s(?:\w+\s)?(?:reduction|regression|degradation|loss|drops?)
  | (?:performance|perf|bandwidth|throughput|speed|tokens\sper\ssecond)\s(?:\w+\s){{0,4}}
    (?:halved|collapsed|dropped|tanked|decreased|fell|went\sdown)
  | (?:step|iteration|epoch|batch)\s?times?\s(?:\w+\s){{0,2}}(?:doubled|tripled|quadrupled|increased|went\sup|rose|grew)
  | (?:go(?:es|ing)?|went|drop(?:s|ped|ping)?)\s(?:down\s)?to\s{_PER_SECOND}
  | unexpected(?:ly\slow)?\s(?:\w+\s){{0,3}}(?:performance|bandwidth|throughput)
  | (?:only|just|merely|barely|never\sexceeds?|no\smore\sthan|not\smore\sthan|at\smost|instead\sof
    |(?:stuck|capped|limited|tops\sout|peaks|maxes\sout)\s(?:at|to|around|below)) \s(?:{_PER_SECOND})
  | (?:{_PER_SECOND})\s(?:\w+\s){{0,2}}(?:instead\sof|where|out\sof)\s(?:about\s|around\s|~)?\d[\d.]*
  | no\s(?:real\s|noticeable\s)?speed-?\s?up | no\sfaster | (?:does|do)(?:n't|\snot)\s(?:\w+\s)?scale
  | (?:half|third|quarter|tenth|fraction|\d+\s?%)\sof\s
    (?:(?:the|its|our)\s)?(?:usual\s|normal\s|former\s)?(?:\d+\s?[GM]\S+|what|speed|bandwidth|throughput
  |expected
  |performance)
  | (?:scaling|parallel)\sefficienc(?:y|ies)(?!\s(?:\w+\s){{0,3}}?(?:improv\w+|rose|risen|increas\w+|grew|up)\b)
    {_gap(4)}(?:[1-5]\d|\d)(?:\.\d+)?\s?(?:%|percent|per\scent)
    (?!\s(?:loss|less|lost|below|of))
  | crawl(?:s|ed|ing)? | (?:poor|low)\s(?:performance|bandwidth|scaling|throughput|busbw)
  | (?:bandwidth|throughput|performance|speed|busbw|scaling)\s(?:\w+\s){{0,4}}
    (?:low|lower|below|drops?|dropped|bad|poor|worse|half|degrad\w*|less)
  | (?<!checkpoint\s)(?<!backup\s)(?<!which\s)takes?\s(?:\w+\s){{0,3}}
    (?:longer|(?:\d+\s?)?(?:minutes|mins?|hours|hrs?)|ages)
  | (?<!checkpoint\s)(?<!checkpoints\s)(?<!backup\s)(?<=\w\s)which\stakes\s(?:\w+\s){{0,3}}(?:minutes|mins?|hrs?)
  | (?:checkpoint|backup|which)\stakes?\s(?:\w+\s){{0,3}}(?:longer|(?:\d\d+\s?)(?:minutes|mins?)|hours|ages)
  | only\s(?:gets?|getting|got|reach\w*|achiev\w*|sees?|seeing|shows?|gives?|at)\s(?:\w+\s){{0,2}}
    \d[\d.,]*(?!\d|\s(?:\w+\s){{0,2}}{_THINGS}\b)\s?\w*
  | (?:gets?|getting|got|reach\w*|achiev\w*|sees?|seeing)\s(?:\w+\s){{0,2}}only\s(?:\w+\s)?\d[\d.,]*\s?[GMT]i?(?:B|b)\w*
  | only\s(?:about\s)?(?:an?\s)?(?:half|third|quarter|tenth|fraction|\d+\s?%)\s(?:of|as)
  | (?:google|nvidia|aws|azure|vendor|docs?|documentation|spec(?:s|ification)?|data\s?sheet)\s
    (?:says?|claims?|promises?|quotes?|states?)\s(?:\w+\s){{0,2}}\d[\d.]*(?:\+|\s?[GM]i?(?:B|b))
  | (?:{_PER_SECOND})\s(?:\w+\s){{0,5}}(?:but|while|whereas|although)\s(?:\w+\s){{1,5}}?
    (?:says?|claims?|promises?|quotes?|states?|reports?|gets?|reach(?:es)?|sees?|has|have)\s(?:\w+\s){{0,2}}\d[\d.]*
  | (?:i'd|would|should|we|i)\s(?:have\s)?expect\w*\s(?:about\s|around\s|~)?\d[\d.]*
  | takes?\s(?:\w+\s){{0,3}}(?:as\slong|longer)
  | los(?:e|es|ing|t)\s(?:\w+\s){{0,2}}(?:\d+\s?%|half)
  | expect\w*\s(?:\w+\s){{0,3}}\d[\d.]*\s?[GMT]i?(?:B/s|bps|b/s|Bps)
  | {_RATE}{_gap(5)}(?:{_BAD}|far\sbelow|way\sbelow|well\sbelow|halved|tanks?|collaps\w*|n't\swhat)
  | {_RATE}{_gap(5)}{_SHARE}\sof
  | (?:{_RATE}|latenc(?:y|ies)|(?:step|iteration|epoch|batch|training)(?:'s)?\stimes?|time\scosts?){_gap(3)}{_NEVER}\s
    (?:(?:as|what|like)\s(?:\w+\s){{0,2}}expect\w*|(?:\w+\s)?meet\s(?:\w+\s){{0,2}}expect\w*)
  | latenc(?:y|ies){_gap(5)}(?!low\b){_BAD} | (?!low\b){_BAD}\slatenc(?:y|ies)
  | (?:{_BAD}|slow|reduced|half\sthe)\s(?:{_WORD}\s){{0,2}}?{_RATE}
  | (?:drag(?:s|ging|ged)|crawl(?:s|ing|ed)?|limp(?:s|ing|ed)?|creep(?:s|ing)?)\salong | sluggish(?:ly)? | snail\w*
    | glacial(?:ly)? | painfully | at\sa\s(?:snail|crawl)\w*
  | (?:takes?|took|taking|needs?|needed|lasts?|lasted)\s(?:{_WORD}\s){{0,4}}?(?:forever|ages|eternity|half\san?\s\w+
    |{_TIMES}\s(?:as|longer|what|more|the))
  | {_TIMES}\s(?:slower|longer|lower|worse|less|as\s(?:long|slow|much\stime)|what\swe|the\s(?:expected|usual|normal))
  | (?:eats?|eating|accounts?\sfor|takes?\s(?:up)?|spends?|spent|dominat\w+|costs?)\s(?:\w+\s){{0,3}}?
    (?:[2-9]\d|100)(?:\.\d+)?\s?(?:%|percent)
  | {_SHARE}\sas\s(?:fast|quick|high)
  | {_SHARE}\sof\s(?:what|the\s(?:paper|expected|published|advertised|nominal|theoretical|usual|peak|baseline))
"""
_UNUSED = rf"""
    (?:looks?|seems?|appears?)\s(?:to\s(?:be|use|go\sover|run\sover)\s|like\s)(?:\w+\s){{0,2}}
    (?:tcp|sockets?|ethernet)\b |
    only\s(?:one|1)\sof\s(?:\w+\s){{0,4}}(?:nics?|hcas?|ports?|interfaces?|rails?|adapters?|cards?)
  | only\s(?:works?|working|(?:gets?\s)?(?:activated|active|enabled|applied|effective|detected|supported|granted))\s
    (?:for|on|in|with)\s(?:the\s)?(?:first\s|last\s)?\w+\s(?:out\s)?of\s(?:the\s|my\s|our\s|all\s)?(?:\w+\s){{1,2}}?
    (?:gpus?|nics?|hcas?|ports?|rails?|adapters?|cards?|devices?)
  | (?:infiniband|ib|rdma|roce|nics?|hcas?|nvlink)\s(?:is\s|being\s)?ignored | not\sbeing\sused | ignor(?:es|ed
  |ing)\s(?:\w+\s){{0,3}}(?:hcas?|nics?|ports?|interfaces?|ib|infiniband|nvlinks?
  |rails?|gpus?|adapters?)
  | (?:ca|do|does|did|is|are|wo)n't\s(?:\w+\s)?us(?:e|ed|ing) | no\seffect | (?:not|n't)\stake\seffect
  | ignor(?:es|ed|ing)\s(?:\w+\s)?(?:specified|configured|given|set)\b | setting\s(?:not\swork\w*|(?:is\s)?ignored)
  | (?:cannot|can't|could\snot|unable\sto)\sget\s(?:\w+\s)?(?:gpu\s?direct|gdr|rdma|infiniband|ib|nvlink|p2p|efa|roce)
  | {_NOT}(?:us(?:e|ed|ing)|pick(?:ed)?|choos\w*|chosen|detect(?:ed)?|find|found|see|recogni[sz]\w*|enabl\w*)
  | (?:uses?|picks?|chooses?|chose|using|goes\sover|runs\sover)\s(?:\w+\s){{0,2}}(?:sockets?|tcp|ethernet|eth\d)\s
    (?:although|even\sthough|despite|rather\sthan|but\snot)
  | (?:falls?|fell|falling|drops?|dropped|reverts?|reverted|switch(?:es|ed))\s
    (?:back|(?:down\s)?(?:on)?to\s(?:\w+\s)?(?:net/)?(?:sockets?|tcp|ethernet))
  | (?:uses|takes|took|chose)\s(?:plain\s|only\s|the\s)?(?:net/)?sockets?\b
    (?!\s(?:for|to|as|in|because|and)\b)
  | (?:through|over|via)\s(?:tcp|eth\d|ethernet|sockets?),?\s(?:and\s)?not\b
  | wrong\s(?:nic|interface|network|adapter|hca)
  | instead\sof\s(?:\w+\s)?(?:ib\d?|infiniband|rdma|roce|efa|nvlink|gdr|p2p)
  | (?<!with\s)(?<!without\s){_MEANS}{_gap(5)}(?:{_NEVER}\s(?:\w+\s){{0,2}}{_USED}(?:\sup)?|{_OFF})
  | (?<!when\s)(?<!if\s)(?<!with\s){_MEANS}\s(?:\w+\s){{0,4}}?(?:stays?|remains?|shows?|lists?|reports?|sits?|is|are
    |at)\s(?:\w+\s){{0,2}}?
    (?:{_OFF}|disabled|idle|off|down|zero|0\s?(?:%|bytes?|b/s)?(?=\s|$|[,.;])|false|no\straffic)
  | (?:traffic|everything|data|all|it|packets?|bytes|communication|nccl|mpi|pairs?|transfers?)\s(?:(?!never
    |not)\w+\s){{0,4}}?
    (?:goes|go|going|went|runs?|flows?|routed|staged|travels?|falls?|lands?|ends?\sup
      |sent)(?:\sall)?\s(?:{_WORD}\s){{0,3}}?
    (?:over|through|via|out\sof|across|on|by)\s(?:{_WORD}\s){{0,3}}?{_SLOW_WAY}
  | (?<!node\s)(?<!node,\s)(?<!host\s)(?<!host,\s)(?<!machine\s)(?<!machine,\s)(?:it|everything|nccl)\s
    (?:(?:still|always|only|just|all)\s)?(?:goes|go|went|runs?)\s(?:only\s)?(?:over|through|via)\s(?:the\s)?(?:shm|shared
    \smemory)\b(?![^.;]*\b(?:fine|well|works?|expected|node|host|machine|local\w*)\b)
  | (?:runs?|running|ran)\s(?:\w+\s)?on\s(?:the\s)?cpu(?:\sonly)? | cpu[\s-]only
  | is_available(?:\(\))?\s(?:is|returns?|gives?|says?|=+)\s(?:\w+\s)?false
  | (?:never|not|n't)\s(?:\w+\s)?(?:touch(?:es)?|pick(?:s|ed)?(?:\sup)?|us(?:es?|ed|ing)
    |go(?:es)?\sover)\s(?:\w+\s)?{_MEANS}
  | (?:ignor|skip|bypass)(?:s|es|ing|ed)\s(?:\w+\s){{0,2}}{_MEANS} | no\s(?:\w+\s)?plugin\sfound
  | why\s(?:is|are|does|do)(?:n't|\snot)\s(?:\w+\s){{0,4}}{_USED}
"""
_FAILS = rf"""
    (?:gets?|got|gives?|gave|says?|with|still)\s(?:me\s|us\s)?[\"\u201c][^\"\u201d]{{4,200}}[\"\u201d]
  | connection\s(?:refused|reset)\b | no\sroute\sto\shost | connect\stime-?out
  | fail(?:s|ed|ing|ure|ures)? | crash(?:es|ed|ing)? | abort(?:s|ed|ing)? | errors? | dies | died | killed
  | abnormal(?:ly)? | broken | breaks(?!\sfor) | broke
  | (?:exits?|exited|terminates?|terminated|ends?|quits?)\s(?:with|by|on)\s(?:an?\s|the\s)?(?:signal|error
  |code\s[1-9]\d*|exit\scode\s[1-9]\d*)
  | (?:makes?|made|lets?|causes?|caused|has|had)\s(?:\w+\s){{1,4}}(?:die|crash|abort|segfault|fail)
  | illegal\s(?:memory\saccess|instruction|address)(?:es)? | sig(?:segv|abrt|bus|fpe|ill)
  | segmentation\sfaults? | bus\serrors? | exceptions? | segfaults? | core\sdump\w* | unable\sto | cannot | can't
  | out\sof\smemory | oom | panic\w*
  | throws? | raises? | dead | never\s(?:joins?|connects?|appears?|shows?\sup) | {troubles.MACHINE_ENDS}
  | {_NOT}(?:work(?:s|ed|ing)?|start(?:s|ed)?|run(?:s|ning)?(?!\s(?:under|on|in|with|as|inside)\b)|connect(?:ed)?
  |launch\w*|initiali[sz]\w*)
  | (?:doesn|don|didn|isn|aren|wasn|won|couldn)'?t\s(?:\w+\s){{0,2}}(?:work|start|run|connect|launch|initiali[sz]e)
  | bail(?:s|ed|ing)?\sout | bomb(?:s|ed)?(?:\sout)? | blow(?:s|ing)?\sup | blew\sup | (?:falls?|fell)\s(?:flat|over
    |apart)
  | chok(?:es|ed) | barf(?:s|ed) | give[s]?\sup | gave\sup | error(?:s|ed)\sout
  | (?<!loss\s)(?<!latency\s)(?<!time\s)(?<!usage\s)(?<!load\s)(?:goes|going|went)\sdown
  | double\sfree | broken\spipe | refus(?:es|ed)\s(?:to|connections?) | reject(?:s|ed)\b
  | signal\s(?:\d+|[a-z]*segv|[a-z]*abrt) | exit\s?code\s-?(?:[1-9]\d*) | oom-?\s?kill\w*
  | (?:gets?|got|was|were|are|been|being|keeps?)\s(?:\w+\s)?evicted
    {_UNDONE}
  | (?:kubelets?|kubernetes|k8s)\s(?:(?!(?:not|never|may|can|could|would|will|might)\b|\w+n't)\w+\s){{0,2}}?
    evict(?:s|ed|ing){_UNDONE}
  | (?<!we\s)(?<!i\s)evict(?:s|ed|ing)\s(?:\w+\s){{0,2}}pods?\b{_UNDONE}
  | never\s(?:made\sit|makes\sit|got|gets)\s(?:to|past|through)
  | (?:not\sable|impossible|no\sway)\sto\s(?:\w+\s){{0,2}}(?:start|run|launch|connect|initiali[sz]e|use|train|load)
  | {_MEMBER}\s(?:\w+\s){{0,2}}?{_NEVER}\s(?:\w+\s)?{_APPEAR}
  | (?:only|just)\s(?:one|two|three|\d+)\s(?:out\s)?of\s(?:the\s|our\s|my\s)?(?:\w+\s){{0,2}}?{_MEMBER}\s
    (?:ever\s|actually\s)?{_APPEAR}\b{_OTHER_START}
  | (?:gives?|gets?|got|starts?|launch(?:es)?)\s(?:me\s|us\s)?(?:only|just)\s(?:one|1|a\ssingle)\s(?:\w+\s)?{_MEMBER}\b
    (?!\s(?:per|for\s(?:each|every))\s(?:gpu|device|card|rank|core)){_MEANT}
  | {_MEMBER}\s(?:\w+\s){{0,2}}?(?:restarts?|reboots?|respawns?)\s{_AGAIN}{_MEANT}
  | (?<!loss\s)(?<!rate\s)(?<!schedule\s)(?<!scheduler\s)(?<!timer\s)(?<!counter\s)
    keeps?\s(?:restarting|rebooting|respawning)
  | (?<!clocks\sof\s)(?<!clocks\sof\sthe\s)(?<!clocks\sof\sall\s){_MEMBER}\s(?:\w+\s){{0,3}}?out\sof\ssync\b
  | (?<=\s)but\s(?:\S+\s){{1,4}}?(?:(?:does|do|will|did)(?:n't|\snot)|won't){_AT_END}
  | (?:nccl|rccl|{_MEMBER})\s(?:\w+\s)?refuses?{_AT_END}
  | (?:access|peer-to-peer|p2p|rdma|communication|connections?)\s(?:\S+\s){{0,4}}?impossible{_AT_END}
  | get\srid\sof\s(?=[\"\u201c](?!\w*warning|deprecat)[^\"\u201d\s]{{1,40}}\s[^\"\u201d\s])
  | {_LOOP_OF_KUBERNETES} | (?:stays?|stuck|remains?|sits?|hangs?|keeps?)\s(?:\w+\s)?(?:in\s)?(?:pending|queued
    |containercreating|podinitializing)
"""
_GROWS = rf"""
    (?:memory|ram|vram|rss){_MEANWHILE}(?:grow(?:s|ing)?|increas(?:es|ing)|climb(?:s|ing)?|leak(?:s|ed|ing)?)
  | more\sand\smore\s(?:\w+\s)?(?:memory|ram|vram) | leak(?:s|ed|ing)?\s(?:\w+\s)?memory | (?:memory\s)leaks?
  | {_MEMORY}{_TAKEN}{_MEANWHILE}{_GROW}
  | {_MEMORY}{_TAKEN}{_gap(6)}(?:{_NEVER}\s(?:\w+\s){{0,2}}(?:releas\w*|freed?|frees|freeing|return\w*|reclaim\w*
    |given\sback
    |com(?:es?|ing)\sdown|shrink\w*)|stays?\sbehind)
  | (?:leak(?:s|ing|ed)?|eat(?:s|ing)?|consum(?:es|ing)|hog(?:s|ging)?|us(?:es|ing)|tak(?:es|ing)|need(?:s
    |ing)?)\s(?:up\s)?
    (?:more\sand\smore|ever\smore|increasingly\smore|increasing\samounts?\sof)\s(?:\w+\s)?{_MEMORY}
  | (?:balloon|swell|bloat|grow)(?:s|ed|ing)?\s(?:\w+\s){{0,3}}?(?:to|from)\s(?:\w+\s){{0,3}}?(?:\d+|tens|dozens
    |hundreds)
  | (?:{_MEMORY}|fd|descriptor|handle|slow|the|a)\sleak(?:s|age)?\s(?:in|on|of|with|after|when|per|during)
  | {_MEMORY}\sleak(?:s|age|ing)? | leak(?:s|ing)\s(?:\w+\s){{0,3}}(?:memory|descriptors|handles|mappings|vram)
  | (?:another|some|\d+)\s(?:{_WORD}\s){{0,4}}?(?:is|are)\s(?:occupied|lost|gone|held|left)\s(?:\w+\s){{0,4}}?
    (?:each|every|after|never)
  | {_GROW}\swithout\s(?:bounds?|limit|end) | grows?\sw/o\sbound
"""
WORDS = {
    "memory-grows": _GROWS,
    "hangs": _HANGS,
    "wrong-results": _WRONG,
    "slow": _SLOW,
    "not-used": _UNUSED,
    "fails": _FAILS,
}
