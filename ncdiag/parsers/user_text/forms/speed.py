"""The forms of what is slow, at times or from some time on."""

from __future__ import annotations

from ncdiag.parsers.user_text.forms.form import Form, Way

_NOT_UNSTEADY = (
    r"gpu-?\s?util\w*|utili[sz]ation|loss\b|than (?:one|a single)|version|over time|\bgrad"
    r"|\bafter (?:\w+ ){0,2}(?:hours?|days?|epochs?|steps?)"
)

FORMS = (
    Form(
        "gpus-idle", "slow", ("slow", "hangs"),
        (
            Way(r"<gpu>",
                r"(?:more|most|half|much|lots|a lot) (?:of )?(?:\w+ )?time (?:\w+ )?(?:waiting|idling|idle"
                r"|doing nothing|sleeping)"
                r"|waits? (?:in|for|on) (?:\S+ ){1,4}?(?:half|most|[3-9]\d ?(?:%|percent)) (?:of )?(?:the )?"
                r"(?:time|step)"),
            Way(r"<utilisation>",
                r"(?:so|very|too|that|quite|extremely|rather|always|really|constantly) (?:low|poor|bad"
                r"|small)\b|(?:is|are|was|looks?|resembles?) (?:like )?an? (?:comb|saw\w*|zig\S*|heartbeat"
                r"|square wave)",
                r"memory (?:util|usage)|fan speed|\bloss\b"),
            Way(r"<gpu>",
                r"(?:and |then ){1,2}(?:rests?|idles?|waits?|sleeps?|naps?) (?:again |for )|(?:rests?|idles?"
                r"|sleeps?) (?:for |most |half |the rest)|(?:not|never|hardly|barely) (?:\w+ )?busy|(?:keeps?"
                r"|kept) (?:dropping|falling|going) to (?:0|zero)|wait(?:s|ing)? on (?:the )?(?:cpu|data|disk"
                r"|loader|storage)\w*"),
            Way("",
                r"<utilisation>(?: \w+){0,2}?(?: is| was)?[:=]? ?(?:only |just |about |around "
                r"|~)?<low percent>(?! (?:to|of|lower|higher|more))|<gpu> (?:\S+ ){0,4}?<low percent> (?:usage"
                r"|util\w*|load)",
                r"memory (?:util|usage)|fan speed|\bloss\b"),
            Way(
                r"<utilisation>|all (?:\w+ )?<gpus>|<gpus>|gpus?(?= (?:are|is|sit|go|stay|wait|drop|starv|do|have))",
                r"<fall> .. (?:to )?(?:around |about |near |nearly |almost )?(?:0|zero)\b"
                r"|(?:is|are|at|only|stays?|sits?|hovers?|around|remains?"
                r"|becomes?) (?:\w+ ){0,2}?(?:0(?![.\d])(?:\s?-\s?\d)?\s?(?:%|percent)?(?= (?:for|most|between"
                r"|half|then|and|in|util)|[,.]|$)|idle|very low|low\b)"
                r"|(?:at |to |of |and )0\s?(?:%|percent)|(?:become|get|be)s? 0\b|idl(?:e|es|ing)\b"
                r"|like a (?:saw\w*|comb|heartbeat|zig\S*|ecg)|saw-?tooth|zig-?zag\w*|<swing> .. (?:between"
                r"|wildly|constantly|a lot)"
                r"|fluctuat\w*|oscillat\w*|up and down|on and off|spik(?:y|es)\b"
                r"|wait\w* (?:for )?(?:the )?(?:\w+ )?(?:data\w*|inputs?|next batch|batch(?:es)?|cpus?"
                r"|loaders?|disk|images)\b|until the next batch"
                r"|starv\w*|in (?:short )?bursts|bursts? of (?:work|activity)|nothing happens|nothing to do"
                r"|(?:are|is|just|mostly) doing nothing|twiddl\w*|bored|under-?\s?utili[sz]ed"
                r"|not (?:\w+ )?(?:fully |well |really )(?:used|utili[sz]ed|loaded|busy)|to (?:almost |nearly "
                r"|practically )?nothing",
                r"\bloss\b|memory (?:util|usage)|fan speed|all gpus (?:in use|busy)"
                r"|(?:times?|latency|overhead|temperatures?) (?:is|are|was|stays?) (?:\w+ )?low",
            ),
            Way(r"<utilisation>",
                r"(?:never|not|n't) (?:\w+ )?(?:above|over|exceed\w*|more than"
                r"|reach\w*) (?:\w+ )?<low percent>|(?:at|around|about|only|just|barely|hardly|below|under"
                r"|less than|is|was|shows?|exceeds?|above|over|reach\w*) (?:\w+ )?<low percent>"
                r"|<low percent> (?:only|at most|on average|for (?:most|half|seconds|minutes|long|\d))",
                r"memory (?:util|usage)|fan speed|\bloss\b"),
            Way("",
                r"(?:low|poor|bad|little|uneven|spiky|fluctuating|zero|0\s?%) (?:\w+ )?(?:gpu|sm"
                r"|volatile)(?:'s)?[- ]?(?:\w+ )?(?:util\w*|usage|load|activity|occupancy)"),
        ),
    ),
    Form(
        "pauses", "slow", ("hangs", "slow"),
        (
            Way(r"<often>",
                r"(?:a |one |the |some |single )?(?:steps?|iterations?|batch(?:es)?) (?:\w+ )?(?:takes?|took"
                r"|needs?|needed|lasts?) (?:\w+ ){0,3}?<long>",
                r"epochs? takes|first step"),
            Way(r"<job>",
                r"<pause> (?:\w+ ){0,4}?<periodic>|<periodic> .. <pause>|in bursts|(?:long|regular|frequent"
                r"|short|strange|random|periodic) (?:pauses|stalls|hiccups|gaps|breaks)"
                r"|with (?:\w+ )?pauses|then it goes on|(?:there is|comes|makes|takes) a (?:\w+ )?(?:pause|break)",
                r"\b(?:never|does not|doesn't) (?:\w+ )?(?:resume|recover|continue|come back)|\bcrash|\bkilled"
                r"|\bepochs? end"),
            Way("",
                r"<pause> ... <a while> ... <resume>|<pause> (?:\S+ ){0,4}?<often> ... <resume>"
                r"|<often> (?:\S+ ){0,4}?<pause> ... (?:<resume>|<a while>)",
                r"\b(?:never|not|n't) (?:\w+ )?(?:resume|recover|continue|come back|proceed|go on)"
                r"|re-?start(?:ed|ing)? (?:it|the)|until i"),
            Way("",
                r"(?:stalls?|pauses?|hiccups?|gaps?|freezes|interruptions?|stutters?) (?:of|lasting"
                r"|for) (?:\w+ ){0,2}?\d|(?:regular|periodic|frequent|recurring|repeated|sporadic|occasional"
                r"|brief|short) (?:\w+ )?(?:stalls|pauses|hiccups|gaps|freezes|interruptions|stutters)"),
            Way(
                r"<resume>|as if nothing|by itself|on its own",
                r"(?:periodic|regular|random|short|brief|long|frequent|repeated) (?:\w+ )?(?:stalls?|pauses?"
                r"|hiccups?|gaps?|freezes?)|<pause> .. <a while>",
                r"\b(?:never|not|n't) (?:\w+ )?(?:resume|recover|continue|come back|proceed|go on)|epoch ends"
                r"|re-?start(?:ed|ing)? (?:it|the)"),
            Way(
                r"every (?:single )?(?:\d+(?:th|st|nd|rd)?|other|few|<few>|so many|second|third|fifth|tenth"
                r"|hundredth) (?:or so )?(?:steps?|iterations?|batch\w*|seconds?|minutes?)",
                r"(?:takes?|took|needs?|lasts?|jumps? to|spikes? to) (?:\w+ ){0,3}?<long>|<pause>"),
        ),
    ),
    Form(
        "falls-off", "slow", ("slow",),
        (
            Way(
                r"<at first>|<later>",
                r"(?:slow(?:s|ed|ing)? down|slower and slower|slower|slows?|less and less (?:fast|speed))\b"
                r"|(?:lose|loses|lost|losing) .. (?:speed|performance|throughput)|<speed> .. <fall>"
                r"|<fall> .. <speed>|degrad\w*",
                r"\bthan (?:one|a single|v?[0-9]\b|the |on |with )|released?|upgrad\w+|updat\w+|warm-?up|\bloss\b"
                r"|\bconnection|the first (?:step|iteration|run|epoch) is slow|util|usage|learning rate|\blr\b"),
            Way(
                r"<at first>|<later>",
                r"<speed> (?:\S+ ){0,5}?<fall>|<fall> (?:\S+ ){0,3}?<speed>"
                r"|<step time> (?:\S+ ){0,4}?(?:grow\w*|grew|increas\w*|climb\w*|rises?|rose|doubles?|doubled"
                r"|triples?|tripled|goes up|went up|creeps?|crept)"
                r"|down to .. \d|half (?:of )?(?:the|its|that) speed|a (?:half|third|quarter|fraction"
                r"|tenth) of (?:the|its|that)(?: \w+)? ?(?:speed|throughput|rate)?|never (?:came|comes|gets"
                r"|got) (?:back )?up",
                r"\bthan (?:one|a single|v?[0-9]\b|on|with)|released?|upgrad\w+|updat\w+|warm-?up"
                r"|\bloss (?:\w+ )?(?:drop|fall|decreas|goes)\w*|\bconnection|checkpoint \w+ed|util|usage"
                r"|learning rate|\blr\b"),
            Way("",
                r"slower and slower|(?:gets?|getting|becom\w+|got|became) (?:\w+ )?slower (?:with (?:time|each"
                r"|every)|the longer|over|as|day|every|each)|(?:degrades?|drops?|declines?|deteriorates?"
                r"|fades?|decays?) (?:over time|with time|gradually|steadily|slowly|overnight)"
                r"|(?:lose|loses|lost|losing) (?:\S+ ){0,4}?(?:speed|throughput"
                r"|performance) (?:\w+ ){0,2}?(?:over|with|after|during)",
                r"\bloss\b|memory|temperature|clock|learning rate|\blr\b"),
        ),
    ),
    Form(
        "reading", "slow", ("slow", "hangs"),
        (
            Way("",
                r"(?:takes?|took|needs?|needed) (?:\w+ ){0,2}?\d[\d.]* ?(?:ms|s|sec\w*|min\w*) (?:to"
                r"|for) (?:load\w*|read\w*|open\w*|decod\w+|fetch\w*) (?:\S+ ){0,3}?(?:images?|files?|samples?"
                r"|batch\w*|shards?|data\w*|videos?|records?)",
                r"checkpoint|weights|safetensors|models?\b"),
            Way(r"<storage>",
                r"(?:gives?|gave|delivers?|delivered|reads?|gets?|reaches?|does|yields?|provides?|manages?|at"
                r"|only|about|just) (?:\w+ ){0,3}?[12]?\d?\d(?:\.\d+)? ?[km]b ?(?:/|per )s|\d+ ?(?:ms|s"
                r"|seconds) (?:per|for each|for every|/) ?(?:\w+ )?(?:file|image|sample|open|read|request)"
                r"|(?:files?|open\w*|images?) (?:\S+ ){0,5}?(?:takes?|took|needs?) (?:\w+ )?\d+",
                r"\b(?:write|writing|saving|save|checkpoint)\w*|\bdisk space|disk full"),
            Way(
                r"\d+ ?(?:%|percent) of (?:the |each |my |our )?(?:\w+ )?(?:step|iteration|time|epoch|run)",
                r"(?:is|are|goes (?:in)?to|spent (?:in|on)) (?:the )?(?:data\w*|load\w*|read\w*|i/?o\b"
                r"|input\w*)(?: \w+)?"),
            Way(
                r"<reading>|<read>|dataloaders?|data ?loaders?|jpegs?|decod\w+|augmentation\w*|pre-?process\w*"
                r"|tokeni[sz]\w+",
                r"(?:can't|cannot|can not|doesn't|does not|not able to|unable to) keep (?:up|pace)|(?:is |are "
                r"|was |as )(?:the |a |our )?(?:\w+ )?(?:bottleneck|limiting factor|limit|slowest part"
                r"|problem)|(?:eats?|eating|dominates?|swallows?|consumes?) (?:\w+ ){0,4}?(?:time|step|hours)"
                r"|\d+ ?(?:%|percent) (?:of )?(?:\S+ ){0,4}?(?:is|are|goes to|in) (?:the )?(?:\w+ )?(?:data"
                r"|load\w*|read\w*)",
                r"checkpoint|weights|safetensors|load\w* (?:the |a )?model"),
            Way(
                r"<reading>",
                r"<slow>|issues?|low (?:throughput|performance)|(?:per|/) ?sec\w*|starv\w*|(?:with|on"
                r"|for) (?:the )?(?:real|actual|own) (?:data|dataset|images)|most of (?:the |my "
                r"|our )?(?:\w+ )?time|\d+\s?(?:%|percent) of (?:the )?(?:\w+ ){0,2}time|tak(?:es?"
                r"|ing) (?:\w+ ){0,3}(?:<long>)|forever|ages|only (?:\w+ ){0,3}\d",
                r"checkpoint|weights|safetensors|\bmodels? load|load\w* (?:the |a )?model|\b(?:fail|crash|error)\w*",
            ),
            Way(
                r"<storage>",
                r"<slow>|forever|ages|(?:only|about|around|at|~|mere|just|barely"
                r"|ridiculous) (?:\w+ ){0,3}?~?\s?\d[\d.,]*\s?(?:[kmg]i?b(?:/s|ps| per)|images|files|samples)"
                r"|\d[\d.,]*\s?(?:images|files|samples|mb|gb|kb)\s?(?:/|per )\s?s|low throughput|bottleneck\w*"
                r"|most of (?:the |my |our )?(?:\w+ )?time|\d+\s?(?:%|percent) of (?:the )?(?:\w+ ){0,2}time",
                r"\b(?:write|writing|saving|save|checkpoint)\w*|\bdisk space|disk full",
                r"<read>|data\w*|files?|images?|shards?|tars?|imagefolder|torch\.load|mmap\w*|samples?"
                r"|safetensors|\bi/?o\b",
            ),
        ),
    ),
    Form(
        "start", "slow", ("slow", "hangs"),
        (
            Way(
                r"(?:bring\w* up|spinning up|spawning|spawn|forming|creating"
                r"|set(?:ting)? up) (?:\S+ ){0,4}?(?:ranks?|process(?:es)?|communicators?|workers|jobs?"
                r"|groups?|replicas?)|time (?:to|until|till|before) (?:the )?first (?:step|token|iteration"
                r"|batch|response)|time spent in init\w*|in init\w*",
                r"(?:is|was|takes?|took|needs?|needed|spends?|spent|lasts?|lasted)(?: \w+){0,3}? <long start>"
                r"|<long start> in init\w*|slow\w*",
                r"throughput|bandwidth|hang|stuck"),
            Way(
                r"<a start>",
                r"(?:tak(?:es?|ing)|took|need\w*|last\w*|eat\w*|spend\w*|spent|cost\w*|requir\w*"
                r"|burn\w*) (?:\S+ ){0,3}?<long start>|(?:very|extremely|really|so|painfully|incredibly|too"
                r"|horribly) slow|slow\w*|<number> ?(?:more |whole |full |long )?(?:min\w*|secs?|seconds?|s|h"
                r"|hours?) (?:before|until|till)\b|(?:takes?|took) forever|(?:takes?|took) ages",
                r"training (?:is|step|speed)|throughput|bandwidth|per second|slower than (?:one|a single)"
                r"|slow(?:er|ly)? (?:in|on|when|inside|under)|(?<!first )(?:steps?|iterations?"
                r"|epochs?) (?:takes?|took|needs?)|(?:start|began|begins?|starts?|started) (?:to |with "
                r"|getting |being )",
            ),
            Way("",
                r"\d[\d.]*\s?(?:min\w*|sec\w*|s|h|hours?) (?:\w+ ){0,2}?(?:before|until"
                r"|till) (?:\S+ ){0,3}?(?:first (?:step|iteration|token|batch)|train\w* (?:begins?|starts?)"
                r"|(?:starts?|begins?|answers?|replies|responds?)\b|(?:is |are |comes? |gets? )(?:ready|up)\b"
                r"|\S*health\S*)"),
            Way(
                r"(?:before|until|till) (?:the |a )?(?:first (?:step|iteration|token|batch)|training (?:begins"
                r"|starts))",
                r"(?:takes?|took|need\w*|wait\w*) (?:\S+ ){0,3}?<long>",
                r"(?:hang|stuck|froze)\w*"),
        ),
    ),
    Form(
        "unsteady", "slow", ("slow", "hangs"),
        (
            Way(
                r"<speed>|<step time>|timings?|measurements|numbers",
                r"(?:is|are|was|very|quite|too|really) (?:very |quite |too |really )?(?:noisy|bumpy|spiky"
                r"|irregular|unpredictable|unreliable|volatile|jumpy)|(?:jumps?|goes|bounces?"
                r"|swings?) up and down|(?:not|n't|never|hardly) (?:\w+ )?(?:reproducible|repeatable|constant"
                r"|the same twice)|varia(?:nce|tion|bility) (?:of|in|between)", _NOT_UNSTEADY),
            Way("",
                r"sometimes (?:\S+ ){0,4}?\d[\d.]* ?(?:[gm]i?b(?:it)?\s?(?:/s|ps)?|[gm]bps|ms|s|seconds|it/s"
                r"|samples/s) ... (?:sometimes|other times|and then|then again) (?:\S+ ){0,4}?\d",
                r"hang|crash|fail|loss|after \d"),
            Way(
                r"<speed>|<step time>|rates?|numbers|measurements|busbw|all_?-?reduce times?|(?:results|runs) of \S+",
                r"<swing> (?:\w+ ){0,3}?(?:between|wildly|a lot|strongly|from|randomly|heavily|by)|fluctuat\w*"
                r"|not (?:\w+ )?(?:stable|consistent|steady|reproducible|constant)|inconsistent|unsteady"
                r"|unstable|erratic\w*|jitter\w*|all over the (?:place|map)"
                r"|(?:huge|large|high|big|enormous|wild|strong|extreme) (?:\w+ )?(?:varia\w*|spread|jitter"
                r"|swings|fluctuation\w*|noise)|sometimes (?:\S+ ){0,6}?\d (?:\S+ ){0,6}?(?:sometimes"
                r"|other times|then|and)|(?:anything|anywhere|ranges?|ranging|everything) (?:from"
                r"|between) \S+ (?:\S+ )?(?:to|and) \d"
                r"|from (?:one )?(?:run|iteration|minute|test) to (?:the )?(?:next|another|run|iteration"
                r"|minute|test)|(?:differ|vary|varies|change)\w* (?:\w+ )?(?:between|from"
                r"|with every) (?:\w+ )?(?:runs?|iterations?|time)",
                _NOT_UNSTEADY,
            ),
            Way(
                r"<speed>|<step time>|rates?|roce|network|training|traffic",
                r"hiccups?|collaps\w*|(?:going|goes|went|go|caves?|caved|breaks?|broke) (?:in|down)(?: to)?"
                r"|(?:drops?|falls?|fell|dropped|goes down"
                r"|breaks? down) (?:\w+ ){0,3}(?:to (?:\w+ )?(?:[01][. ]|zero|nothing|nearly|almost"
                r"|a fraction)"
                r"|sharply|dramatically|when (?:many|all|several))|unstable|nearly nothing|(?:terrible|bad"
                r"|poor|low|slow\w*) with (?:many|more|\d+)(?! ?gpus?)",
                _NOT_UNSTEADY
                + r"|(?:latenc(?:y|ies)|times?|overhead) (?:\w+ )?(?:go|goes|going|went|drops?|dropped|falls?|fell)",
            ),
            Way("",
                r"(?:some|one|a few) (?:runs?|iterations?|jobs?|tests?|times?|steps?) ... (?:others?|another"
                r"|other (?:runs?|times?|tests?|ones)|the next)\b",
                r"hang|crash|fail|loss",
                r"\d[\d.]*\s?(?:[gm]i?b|[gm]bps|s\b|ms)|fast|slow"),
            Way("",
                r"(?:huge|large|high|big|enormous|wild|strong|extreme|heavy) (?:\w+ )?(?:varia\w*|spread"
                r"|jitter|swings|fluctuations?) (?:in|of|between) (?:\S+ ){0,2}?(?:<speed>|<step time>"
                r"|all_?-?reduce|runs|timings?|latenc\w+)"),
            Way(
                r"(?:bandwidth|throughput|busbw|speed|perf\w*|goodput)",
                r"(?:recovers?|recovered|comes? back|back up|returns?|goes up|rises?) (?:\S+ ){0,4}?(?:again"
                r"|collapses?|drops?|falls?|fell|then)|(?:collapses?|drops?|falls?|caves?) .. (?:recovers?"
                r"|again|back)",
                r"gpu-?\s?util\w*|\bloss\b"),
        ),
    ),
)  # fmt: skip
