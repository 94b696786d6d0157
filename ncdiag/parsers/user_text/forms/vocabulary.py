"""The classes of words from which the forms of troubles are made, and the short notation of their patterns.

In a pattern, ``<hang>`` is a class of this module, a blank is a space of the text, ``..`` stands for at most three
words and ``...`` for at most eight.
"""

from __future__ import annotations

import functools

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.verbs import verbs

_FEW = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|some|half|a few)"
_UNITS_OF_TIME = r"(?:ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?)"
_BYTES = r"(?:(?:[kmgt]i?b?|kilo|mega|giga)(?:ytes?)?|bytes)"

_MOVES = verbs(
    "return, finish, complete, end, continue, proceed, progress, respond, advance, terminate, exit, "
    "leave, enter, start, move, come back, go on, go further, go into, go to, go past"
)
_FALL = verbs(
    "drop, fall, go, sink, dip, decrease, degrade, decline, sag, tank, collapse, plunge, plummet, "
    "shrink, halve, slide, creep, deteriorate, worsen, crash, crater, decay, erode, fade, reduce, slump, "
    "jump, cave"
)
_SWING = verbs("fluctuate, oscillate, vary, swing, jump, bounce, change, jitter, wobble, flap, alternate, hop")
_RESUME = verbs(
    "continue, resume, recover, proceed, go on, carry on, pick up, move on, go back, come back, "
    "catch up, keep going, go again, run on, wake up, start again"
)
_TELLS = verbs("find, show, list, see, print, report, return, output, give, say, display, detect")

_CLASSES = {
    "number":
        r"(?:\d[\d.,]*[km]?|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen"
        r"|sixteen|twenty|thirty"
    r"|forty|fifty|sixty|hundred|thousand|half|quarter|dozen|several|some|many|few|couple)",
    "few": _FEW,
    "several":
        r"(?:[2-9]|\d{2,4}|two|three|four|five|six|seven|eight|ten|twelve|sixteen|both|all|several|multiple"
        r"|more|dual|many)",
    # what the trouble befalls
    "gpu":
        r"(?:gpus?|cards?|graphics cards?|accelerators?|(?:rtx\s?|gtx\s?|geforce |quadro |tesla |titan "
        r"|radeon |nvidia )?"
    r"(?:rtx |gtx |rx )?(?:(?<=rx )[45]\d0|[avhlbpt]\d{1,4}|mi\d{3}x?|[1-7]0[5-9]0|[5-7][6-9]00|[456]000|titan"
    r"|xtx?)(?:\s?(?:ti|xtx?|ada|super))?s?)",
    "gpus": r"(?:gpus|cards|graphics cards|accelerators|[avhlbpt]\d{2,4}s|[1-7]0[5-9]0s)",
    "several gpus":
        r"(?:multi-?\s?(?:gpus?|cards?)|multiple (?:\w+ )?(?:gpus?|cards?)|<several>\s?x?(?: \w+){0,2}? <gpu>"
        r"|<several>x\s?<gpu>"
    r"|second <gpu>|data-?\s?parallel\w*|ddp|fsdp|tensor[-_ ]parallel\w*(?:[-_ ](?:size"
    r"|degree))?[ =]{1,3}(?:of )?[2-9]\d?|-{0,2}tp[- =]{0,3}[2-9]\d?|(?:the )?number of (?:gpus|cards)"
    r"|(?:with|on|over|across|between|under|using|use|to) (?:the )?(?:both|two|four|eight|all(?: of them)?|[2-9])"
    r"(?= (?:it|they|the|we|i|only|still|always|cards?|gpus?|is|are|everything)\b|[,.;:]|\s?$))",
    "one gpu":
        r"(?:(?:one|a single|single|1|only one|just one)[ -]?x?(?:\w+ )?<gpu>|tp[- =]{0,3}1|(?:with|on"
        r"|using) (?:one|just one|a single one))",
    "host":
        r"(?:nodes?|hosts?|machines?|servers?|instances?|boxes|box|pods?|vms?|computers?|workstations?"
        r"|workers?|systems?)",
    "rank": r"(?:ranks?|process(?:es)?|workers?)",
    "members": r"(?:<gpu>|<host>|<rank>|participants|members)",
    "job":
        r"(?:train\w*|jobs?|runs?|program\w*|script|process(?:es)?|everything|all(?: ranks| gpus| processes)?"
        r"|everybody|nobody|loop|app"
    r"|application|code|(?:few |\d+ )?steps?|iterations?|batch\w*|epochs?|speed|throughput|images?|samples?|it"
    r"|inference|serving|server)",
    "others":
        r"(?:(?:all |any |of )?(?:the |its |my |our |their )?(?:other|remaining)s?(?: \w+){0,2}|(?:the "
        r"|all the )?(?:rest|others)|<few> others?"
    r"|(?:its|their|the) (?:\w+ )?(?:peers|siblings|neighbou?rs|colleagues|twins?|brothers)|everybody else"
    r"|everyone else|everything else"
    r"|all (?:\w+ )?<members>)",
    "utilisation":
        r"(?:(?:gpus?|cards?|sm|volatile|compute)(?:'s|s')?[- ]?(?:\w+ )?(?:util\w*|usage|loads?|capacity"
        r"|activity|occupancy"
    r"|core usage)|gpu-?util\w*|utili[sz]ations?|util\b|nvtop|nvidia-smi|gpustat|nvitop)",
    "speed":
        r"(?:speeds?|throughputs?|performance|perf|bandwidths?|busbw|algbw|bw|mfu|t?flops|rates?|(?:tokens?"
        r"|tok|samples?|images?|imgs?|steps?|it|iters?"
    r"|iterations?|batch(?:es)?|sequences|frames|examples|sentences|files)\s?(?:/|per )\s?(?:gpu\s?/\s?)?(?:s"
    r"|sec\w*|min\w*|hour|h)|fps)",
    "step time":
        r"(?:(?:step|iteration|iter|batch|epoch|training|forward|backward|all-?_?reduce|collective) (?:times?"
        r"|durations?|latenc\w+)|(?:time|seconds|s|ms)"
    r"\s?(?:/|per )\s?(?:step|iteration|iter|it|batch|epoch)|latenc(?:y|ies)|(?:each|every|an?|one"
    r"|the) (?:step|iteration|epoch|batch))",
    "step":
        r"(?:iterations?|steps?|iters?|batch|backward\w*|forward\w*|pass|updates?|optimizer step|all_?-?reduce"
        r"|collective)",
    "result":
        r"(?:loss(?:es)?|accurac\w+|gradients?|grads?|results?|outputs?|weights|predictions?|answers?"
        r"|responses?|generations?|sums?|values?|numbers"
    r"|metrics?|data|tensors?|logits|text|images?|perplexity|scores?|completions?)",
    "plural data":
        r"(?:samples|images|pictures|sequences|inputs|examples|records|files|shards|documents|prompts"
        r"|sentences|texts|videos|clips|graphs"
    r"|(?:mini-?)?batches(?! (?:of (?:size )?\d|larger|bigger|smaller))|data(?! ?(?:sizes?|types?"
    r"|-?parallel\w*|cent\w+|path|rates?|transfers?))|datasets"
    r"|items|utterances|scenes|rows|cases|frames|molecules|requests)",
    "datum":
        r"(?:batch(?! ?-?sizes?| of (?:size )?\d| larger)|mini-?batch|sample"
        r"|(?<!docker )(?<!base )(?<!same )(?<!container )image"
        r"|picture|sequence|input|example|record|document|prompt|sentence|video|clip|graph"
    r"|item|utterance|scene|row|frame|molecule|request|datum|data ?point)",
    "storage":
        r"(?:nfs|lustre|ceph\w*|gpfs|beegfs|weka\w*|gluster\w*|s3|gcs|minio|efs|fsx|smb|cifs|fuse|hdfs|juicefs"
        r"|hdds?|spinning disks?|object stor\w+"
    r"|(?:shared|network|remote|parallel|distributed|cloud|mounted|external) (?:\w+ )?(?:drives?"
    r"|file ?systems?|storages?|disks?|shares?|mounts?|folders?"
    r"|directory|volumes?)|file ?systems?|disks?|nas|storage|blob ?stor\w+|azure blob|mount(?:ed)?)",
    "reading":
        r"(?:<read> .. (?:data\w*|files?|images?|batch\w*|samples?|shards?|tars?|parquet|records?|videos?"
        r"|inputs?)|data-?\s?(?:load|read|fetch)\w*"
    r"|(?:data|input)-?\s?pipelines?|(?:i/o|io)\b(?: performance)?|input data|(?:data|dataset)s? (?:is|are"
    r"|reads?|reading)(?: read)?"
    r"|(?:synthetic|dummy|fake|random|cached) data|imagefolder|webdataset|tfrecords?|torch\.load|np\.load"
    r"|mmap\w*(?:'ing)?|dali\b)",
    "read": verbs("read", "load", "fetch", "stream", "decode", "open"),
    "a start":
        r"(?:start(?:s|up|-up|ing)?|cold[- ]start|init(?:s|\b|iali[sz]\w*)|first (?:run|call|use|cuda call"
        r"|launch|step|iteration|collective|all_?-?reduce|all_?-?gather|barrier|broadcast|communication|nccl (?:call"
        r"|operation))"
    r"|launch\w*|cuda (?:context|init\w*)|cudamalloc|cudafree|nccl-init|ncclcomminit\w*"
    r"|comm(?:unicator)? (?:init\w*|creation|setup)|init_process_group"
    r"|process[- ]group(?:s)? (?:set-?up|creation|init\w*)|rendezvous|boot(?:strap|ing)?\w*|loading cuda"
    r"|imports?(?:ing)?(?: of)? (?:torch|nccl)\w*"
    r"|(?:before|until|till) (?:the |a )?(?:first (?:step|iteration|token|batch)|training (?:begins|starts)"
    r"|(?:it|anything) (?:begins|starts)|\S*health\S* \w+))",
    # what happens
    "hang": r"(?:<stuck>|wait\w*)",
    "stuck":
        rf"(?:hang\w*|hung|{verbs('freeze', 'stall', 'block', 'wedge', 'deadlock', 'jam', 'spin')}|deadlock\w*"
        rf"|stuck|lock(?:s|ed|ing)? up|halt\w*"
    rf"|time[sd]?[ -]?out|timeouts?|timing out|unresponsive|dead in the water|standstill|no progress"
    rf"|nothing (?:happens|moves|comes|more)"
    r"|wait\w* (?:forever|indefinitely|endlessly|for ever|eternally|in vain|in the|at the|there)|(?:is|are|was"
    r"|were|keeps?|kept|all|just|everybody|everyone|others?|rest|ranks|process(?:es)?|workers|peers) wait(?:s"
    r"|ed|ing)?"
    rf"|(?:never|not|n't|nobody|no one"
    rf"|no rank) (?:\w+ )?{_MOVES}"
    r"|(?:never|not|n't) (?:\w+ )?(?:get|gets|got|getting) (?:any )?(?:further|past|back|beyond|to (?:the"
    r"|epoch|step|a|training)|out|through)"
    r"|(?:and|but|then) (?:then )?(?:nothing|silence|(?:it is |it's )?quiet)\b|never arriv\w*|not arriv\w*"
    rf"|(?:cannot|can't|can not|unable to) (?:go|get|proceed|continue|move|enter)"
    rf"|{verbs('stand', 'sit')} (?:still|there|idle)|{verbs('stop')}|comes to a halt"
    r"|infinite (?:wait|loop)|forever|indefinitely|endless\w*)",
    "pause":
        rf"(?:{verbs('stall', 'pause', 'stop', 'hang', 'freeze', 'halt', 'block', 'wait', 'slow', 'stutter')}"
        rf"|stuck|stunned|stand(?:s|ing)? still|stood still"
    r"|nothing (?:moves|happens|comes)|no progress|interrupted|on hold|suspended|hiccups?|breaks|pauses"
    r"|interruptions?|gaps?|stands still)",
    "fail":
        rf"(?:{verbs('fail', 'crash', 'die', 'abort', 'segfault', 'throw', 'raise', 'explode')}|breaks|broke"
        rf"|errors?|exceptions?|oom\w*|out of memory|killed"
    r"|seg(?:mentation)? ?-?faults?|illegal memory access\w*|(?:do|does|did|will|wo|ca|is|are)(?:n't"
    r"| not) (?:\w+ )?(?:work\w*|start|run\w*|connect|launch)|refuses"
    r"|ends? (?:in|with) |nccl\w*error|cuda\w*error|cannot|unable|sigsegv|sigabrt|panics?|goes wrong|problems?"
    r"|issues?|bugs?|gives? up|gave up)",
    "bad": r"(?:<hang>|<fail>|<wrong>)",
    "wrong":
        rf"(?:\bnans?\b|infs?\b|garbage|gibberish|nonsense|(?:pure |only |just )?noise|junk|rubbish"
        rf"|wrong(?:ly)?|incorrect(?:ly)?|chance level|at chance|zeros|all zero"
    rf"|mojibake|corrupt\w*|{verbs('diverge', 'explode', 'blow up', 'differ', 'mismatch')}|divergence"
    rf"|repeated tokens|random (?:tokens|text|outputs?|characters|words|letters|numbers)|exclamation marks|!!!+"
    r"|(?:not|n't|never|no longer) (?:\w+ )?(?:converg\w*|learn\w*|decreas\w*|improv\w*|train\w*|match\w*"
    r"|agree\w*|reproduc\w*|go(?:es)? down)|mess(?:ed)?|broken|unusable)",
    "fine":
        r"(?:works?|worked|working|runs?|ran|ok|okay|fine|good|(?:no|without(?: any| a)?"
        r"|zero) (?:\w+ )?(?:problems?|issues?|troubles?|errors?|hiccups?)|pass(?:es|ed)?|succeed(?:s|ed)?"
    r"|complet(?:es?|ed)|goes (?:through|well|fine)|went (?:through|well|fine)|normal(?:ly)?|correct(?:ly)?"
    r"|right|perfect(?:ly)?|trains?|trained|as expected|converges?|finish(?:es|ed)?"
    r"|goes down|prints|printed|harmless|all good|healthy|happy|stable)",
    "slow":
        rf"(?:slow(?:er|ly|s|ness)?|sluggish|{verbs('crawl', 'lag', 'trickle')}|snail\S*|bottlenecks?|terrible"
        rf"|awful|ridiculous\w*|painful\w*|abysmal"
    r"|tak(?:es?|ing) (?:\w+ ){0,3}?(?:long|longer|ages|forever|most|minutes|hours|eternity)"
    r"|took (?:\w+ ){0,3}?(?:long|longer|ages|forever)|too (?:much|long)(?: time)?|limiting factor|the limit\b"
    r"|(?:can't|cannot|can not|doesn't|does not) keep (?:up|pace)"
    r"|(?:eats?|dominates?|swallows?|costs?) (?:\w+ ){0,3}?(?:time|step|hours))",
    "fall": _FALL,
    "lose": verbs("lose"),
    "swing": rf"(?:{_SWING})",
    "resume": rf"(?:{_RESUME}"
    r"|run(?:s|ning)? (?:\w+ ){0,2}(?:again|on|further|normal\w*|fine)|is (?:fast|back|normal|fine)(?: again)?"
    r"|(?:back|returns) to normal)",
    "vanish":
        rf"(?:{verbs('disappear', 'vanish', 'drop out', 'drop off', 'drop from', 'fall off', 'fall out')}"
        rf"|(?:fallen|fell|falls|drops|dropped) (?:\w+ )?(?:off|out)(?: of| from)?|(?:is|are|gets?|got|was"
        rf"|were) (?:\w+ )?lost"
    rf"|(?:{verbs('go')}) (?:missing|away|offline|dark)|no longer (?:lists?|shows?|sees?|detects?|finds?"
    rf"|reports?)|no longer (?:\w+ )?(?:visible|listed|shown|detected|seen|there|present|found|recogni[sz]ed)"
    rf"|(?:is|are|was|were) (?:\w+ )?(?:gone|missing)|off the bus|rev ff"
    r"|unable to determine the device handle)",
    # when
    "often": r"(?:<periodic>|<seldom>)",
    "periodic":
        r"(?:again and again|over and over|every(?: <few>| other| so| single)?(?: few)? (?:often|steps?"
        r"|iterations?|batch\w*|seconds?|secs?|minutes?|mins?|hours?)|every now and then|periodic\w*"
        r"|regular(?:ly)?"
    r"|repeated(?:ly)?|constantly|once every \S+|(?:in|at) (?:\w+ )?intervals|between (?:the )?(?:steps"
    r"|batch\w*|iterations|epochs)|recurring|every \d+(?:th|nd|rd|st)?)",
    "seldom":
        r"(?:from time to time|now and then|now and again|once in a while|sporadic\w*|intermittent\w*"
        r"|occasional\w*|sometimes)",
    "a while":
        rf"(?:for (?:about |around |some |roughly |nearly |almost |up to |a |an |the |several "
        rf"|like )?[^.;]{{1,24}}?(?:{_UNITS_OF_TIME}|moment|while|bit)\b|(?:some|a few|several|a|one or two"
        rf"|<number>)(?: \w+)? ?(?:seconds?|secs?|minutes?|mins?|moment|while))",
    "later":
        rf"(?:over time|with (?:the )?time|over ?night|over the (?:\w+ ){{0,3}}?(?:hours|days?|weeks|epochs|run"
        rf"|training"
        rf"|job|night)|(?:during|in) the night|after (?:about |around |roughly |only |just |~ ?)?(?:<number>"
        rf"|a (?:few|while|couple))[\d.,k-]*(?: of)?(?: \w+)? ?(?:{_UNITS_OF_TIME}|while|time|steps?"
        rf"|iterations?|iters?|epochs?|batch\w*)\b|after a while|<number>(?: \w+)? ?(?:hours?|days?|minutes"
        rf"|steps|epochs|iterations) later|(?:the )?next (?:day|morning)|the longer|the further"
    r"|as (?:the )?(?:\w+ ){0,2}(?:goes on|progresses|proceeds|advances|continues)|more and more|gradual\w*"
    r"|progressively|suddenly|slowly but surely|little by little|step by step|bit by bit|(?:every|each) (?:day"
    r"|hour|epoch)|(?:epoch|hour|day|step) (?:after|by) (?:epoch|hour|day|step)|in the long run|eventually"
    r"|later(?: on)?|steadily|continuously)",
    "at first":
        r"(?:at first|at the (?:very )?(?:beginning|start|outset)|in the (?:very )?(?:beginning|first)"
        r"|initially|first <number>? ?\w+|(?:starts?|started|starting|begins?|began) (?:out |off )?(?:at|with"
        r"|fast|fine|well|good|great|quick\w*|around|about)|the first|right after (?:the )?start|originally"
        r"|early on|when fresh)",
    "bytes": _BYTES,
    "size":
        r"(?:about |around |roughly |~\s?|some )?(?:\d[\d.,]*\s?<bytes>\b|2\s?\^\s?\d\d?|2\*\*\d\d"
        r"|\d[\d.,]*\s?(?:[kmb]|billion|million|thousand)? (?:elements|values|floats|bytes|numbers|entries"
        r"|parameters|tokens)|a (?:\w+ )?(?:gigabyte|megabyte|size|threshold|limit)"
        r"|a certain (?:\w+ )?(?:size|length)|(?:2|4) ?gb?\b|int(?:32)?_?max)",
    "long start":
        r"(?:(?!an? min|1 ?min|one min)<number>(?: \w+)? ?(?:min\w*|h|hrs?|hours?)\b"
        r"|\d{2,4}(?:\.\d+)? ?s(?:ec\w*)?\b|(?:twenty|thirty|forty|fifty|sixty|ninety"
        r"|hundred)(?: \w+)? seconds|(?:a )?quarter of an hour|half an hour|minutes|hours|(?:very |too |so "
        r"|much )?long(?:er)?|ages|forever|an eternity)",
    "long":
        r"(?:<number>(?: \w+)? ?(?:s|sec\w*|min\w*|h|hrs?|hours?)\b|(?:a )?quarter of an hour|half an hour"
        r"|minutes|several minutes|hours|long(?:er)?|ages|forever|an eternity|eternal\w*)",
    "verbs tools":
    r"(?:ibv_devinfo|mlx[45]\w*(?: devices?)?|ibv_devices|ibstat(?:us)?|ibdev2netdev|rdma link|/dev/infiniband"
    r"|uverbs\d?|(?:ib|rdma|infiniband|roce|efa|connectx\S*|mellanox|verbs|nic)s? (?:devices?|cards?|nics?"
    r"|adapters?|hcas?|interfaces?)"
    r"|hcas?|rdma nics?|fi_info|ib_uverbs)",
    "tells": _TELLS,
    "low percent": r"(?<!\d)(?<!\d\.)(?:[1-5]?[0-9])(?:\.\d+)?\s?(?:%|percent)",
    "only": r"(?:only|just|exclusively|solely|merely|nothing but|none but|purely)",
}  # fmt: skip
_DIGIT = lazy_regex(r"(?<!\(\?<!)\\d(?=\||\)|$)")
"""A digit at the end of an alternative, which more may follow."""
_NAME = lazy_regex(r"<([a-z][a-z ]*)>")


@functools.cache
def worded(pattern: str) -> str:
    """The source of a pattern that is written in the notation of this module."""
    pattern = _NAME.sub(lambda found: f"(?:{worded(_CLASSES[found[1]])})", pattern)
    pattern = (
        _DIGIT.sub(r"\\d+", pattern)
        .replace(" ... ", r"[,;:.)]{0,2}\s(?:\S{1,30}\s){0,8}?")
        .replace(" .. ", r"[,;:]?\s(?:\S{1,30}\s){0,3}?")
    )
    return pattern.replace(" ", r"\s")
