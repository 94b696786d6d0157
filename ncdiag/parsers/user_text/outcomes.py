"""The words for what came of a change, in English and Chinese: it works, fails, is as before, is slower.

A word of ``weak`` kind says so only at the end of what it says, or beside another outcome: ``it runs`` against ``it
runs in a container``.
"""

from __future__ import annotations

from ncdiag.parsers.user_text.words import Word

_TROUBLE = (
    r"(?:issues?|problems?|errors?|hangs?|hanging|crash(?:es)?|deadlocks?|timeouts?|failures?|faults?|bugs?|trouble"
    r"|symptoms?"
    r"|freezes?|stalls?|segfaults?|oom|xids?|slow-?down|illegal\smemory\saccess(?:es)?)"
)
_ACTORS = (
    r"(?:\w+[^\Wus]s|job|run|process|training|program|script|code|rank|node|server|machine|model|worker|trainer|test"
    r"|app"
    r"|container|pod)"
)
"""Who may hang or crash, so that the word behind it is a verb."""
_AUX = r"(?:did|does|do|has|have|had|will|would)"
_DO_NOT = rf"(?:{_AUX}(?:n'?t|\snot)|won'?t)"
_IS_NOT = r"(?:is|are|was|were|am)(?:n'?t|\snot)"
_FREE = rf"with(?:out|\sno)\s(?:any\s|an?\s|further\s|more\s)?(?:\w+\s)?(?:{_TROUBLE}|hitch|incidents?|complaints?)"
_WELL = (
    r"(?:through|fine|ok(?:ay)?|well|normal(?:ly)?|properly|correctly|smoothly|successfully|perfectly|flawlessly"
    r"|reliably"
    r"|(?:just\s)?as\s(?:expected|before|intended|it\sshould)|like\s(?:before|a\scharm)|again|overnight|instantly"
    r"|immediately"
    rf"|right\saway|at\sonce|clean(?:ly)?|every\s(?:single\s)?time|each\stime|all\snight|for\s(?:days|hours|weeks)"
    rf"|to\s(?:completion|the\send)|{_FREE})"
)
_GO = (
    r"(?:runs?|ran|running|goes|went|completes?|completed|finishe[sd]|finish|starts?|started|trains?|trained|works?"
    r"|worked"
    r"|working|connects?|connected|initiali[sz]e[sd]?|proceeds|proceeded|continues|continued|loads|loaded|launche[sd]"
    r"|comes?\sup|came\sup|behaves?|behaved|scales|scaled|converges|converged|trains|(?:is|are|gets?|got|was"
    r"|were)\s(?:now\s)?established)"
)
_GOES = (
    r"(?:runs|ran|completes|completed|finishes|finished|starts(?!\sto\b)|trains|connects|proceeds|continues|loads|launches"
    r"|comes?\sup|came\sup|(?:does|did)\s(?:indeed\s)?(?:run|work|complete|finish|start|train|connect)"
    r"|scales|converges|responds|answers|(?:gets?|got)\sestablished|goes\sthrough)"
)
"""What a job does that gets on, beside a word of `_WELL`; and what says so at the end or beside another outcome."""
_HAPPENS = (
    r"(?:hang(?:s|ing)?|hung|stuck|freez(?:e|es|ing)|frozen|deadlocks?|stalls?|crash(?:es|ing)?|fail(?:s|ing)?"
    r"|tim(?:es?|ing)\sout|lock(?:s|ing)?\sup)"
)
_SPEED = r"(?:the\s|our\s|my\s)?(?:bandwidth|throughput|speed|performance|bus\s?bw)"
_RATE = (
    r"(?:about\s|~)?\d+(?:\.\d+)?(?:\s?(?:[KMGT]i?B/s|[KMGT]bps|[KMGT]b/s|it/s|(?:tokens|samples|steps|images)/s(?:ec)?"
    r"|t?flops|ms|sec(?:onds)?|s))"
)
_MUCH = r"(?:(?:much|even|far|a\slot|significantly|slightly|considerably)\s)?"

OUTCOMES = (
    Word(
        "out", "same",
        rf"(?:makes?|made|making)\s(?:absolutely\s)?no\sdifference|{_DO_NOT}\s(?:make|made)\s(?:a|any|much)\sdifference"
        r"|(?:with|had|has|have|to)?\s?no\s(?:real\s|visible\s)?(?:effect|difference|changes?|help|luck|improvements?"
        r"|avail"
        r"|success|impact|dice|joy)"
        r"|no\sbetter|chang(?:e[sd]?|ing)\snothing|nothing\schange[sd]|(?:did|does|do|doing)\snothing|unchanged"
        r"|identical|useless|in\svain"
        rf"|{_DO_NOT}\s(?:really\s|actually\s|seem\sto\s|even\s)?"
        r"(?:help|fix|solve|resolve|cure|change|matter|improve|affect|do|cut|bring|achieve|yield)(?:ed"
        r"|d)?(?:\sanything|\sit"
        r"|\seither)?(?!\s(?:this|not))"
        rf"|{_IS_NOT}\s(?:a\s|the\s)?(?:help(?:ful|ing)?|fix|solution|cure)|(?:is|was)\sno\s(?:help|fix|solution|cure)"
        rf"|(?:exactly\s|just\s|still\s)?(?:the\s)?(?:very\s|exact\s)?same\s(?!(?:\w+\s)?{_ACTORS}\s)(?:\w+\s){{0,2}}"
        rf"(?:{_TROUBLE}|results?|behaviou?r|thing|outcome|story|traces?|messages?|stack(?:\s?trace)?|picture)"
        r"|(?:is|are|was|stays?|stayed|remains?|remained)\s(?:exactly\s)?the\ssame|(?:just|all"
        r"|still)\s(?:exactly\s)?the\ssame"
        r"|(?<=:\s)(?:nope|no)(?=\W*$|[,.;])"
        r"|not\s(?:enough|sufficient)|no\sodds|still\s(?:at|only|around)\s\d+"
        r"|without\s(?:any\s)?(?:success|effect|luck|improvement|result|change)"
        r"|^\W*(?:the\s)?same(?=\s(?:with|without|outside|for|on|when|if|using|in|after)\b)|(?:the\s)?same\s(?:happens|occurs)"
        r"|(?<=[:>,]\s)same(?=\W*$)"
        rf"|{_TROUBLE}\s(?:still\s|just\s|simply\s)?(?:persists?|remains?|persisted|remained|stays|stayed|continues?"
        rf"|comes\sback|came\sback"
        r"|(?:is|are)\s(?:still\s)?(?:there|present))"
        r"|persists|persisted|(?:occurs?|occurred|happens?|happened|appears?|appeared)\sagain"
        r"|(?:it|this)\s(?:comes|came)\sback"
        r"|(?:only|just|merely)\s(?:delay|postpone|move|shift|defer|hide)(?:s|d|ed)"
        r"|either\sway|so\sdid\sit\swithout(?:\sit)?",
        "没有?用(?![过上到])|无用|无效|没有?效果?|不起作用|不管用|没有?作用|(?:没有?|不能|无法|未能?)解决|没有?(?:变化|区别|改善|任何变化)"
        "|(?:问题|现象)(?:依旧|依然|仍然|还在|仍在|还是存在)|(?:还是|依旧|仍然?|依然|也是?|都)一样"
        "|同样(?:的)?(?:问题|错误|报错|卡住)|一样(?:的)?(?:问题|错误?|报错|卡)",
    ),
    Word(
        "out", "other",
        r"(?:with\s)?(?:an?\s|some\s)?(?:(?:\w+ly\s)?different|another|other|new)\s(?:\w+\s){0,2}"
        r"(?:errors?|failure|problem|issue|crash|exception|(?:error\s)?messages?)"
        rf"|{_TROUBLE}\s(?:is\s|was\s)?(?:replaced\sby|turn(?:s|ed)\sinto|become[sd]?|became|change[sd]\s(?:to|into))",
        "(?:报|变成|换)了?(?:另一个|别的|其他|新的|不同的)(?:错误?|问题)|错误变成",
    ),
    Word(
        "out", "gone",
        r"(?<!and\s)(?<!we\s)(?<!i\s)(?:goes|went|gone|go|going)\saway|disappear(?:s|ed)?|vanish(?:es|ed)?"
        rf"|(?:have|has)(?:n't|\snot|\snever)\s(?:been\s)?(?:seen|happened|occurred|reappeared|come\sback)"
        rf"|free\sof\s(?:\w+\s)?{_TROUBLE}"
        r"|(?:(?<=hang\s)|(?<=error\s)|(?<=crash\s)|(?<=problem\s)|(?<=issue\s))gone",
        "消失了?|没了",
    ),
    Word(
        "out", "works",
        rf"{_GO}\s(?:all\s|just\s|perfectly\s|quite\s|up\s)?{_WELL}"
        r"|works|worked"
        r"|(?<!of\s)(?<!is\s)(?<!some\s)(?<!much\s)(?<!more\s)(?<!needs\s)(?<!the\s)(?<!at\s)(?<!my\s)work(?!\s(?:on"
        r"|in\sprogress|nodes?|hosts?|machines?|director(?:y|ies)|dir|groups?|queues?|items?|loads?|requests?))"
        r"|(?:is|was|are|were|get|got|gets|now|not|it)\sworking(?!\s(?:on|at|for|with)\b)"
        r"|working(?=\s(?:now|again)|\W*$)"
        r"|(?<=steps\s)clean|(?<=runs\s)clean|(?<=[:|]\s)(?:clean|good|yes)(?=\W*$)|\u2705|\u2714|succeeds?|succeeded|success|successful(?:ly)?|fine|ok(?:ay)?(?!\s(?:so|i|we|let|here|then|this|now\si)\b)"
        r"|passes|passed"
        r"|(?:find|see|reach|talk\sto)\s(?:each\sother|one\sanother)|all\s(?:is|are)\s(?:well|fine|good)"
        r"|all\s(?:is|was)\squiet|off\sit\sgoes|that\swas\sit|perfect|back\s(?:to|at)\s\d+|(?:like\sa\scharm)|survives?|survived|recovers|recovered|stable|keeps?\s(?:going|running)"
        rf"|(?<!which\sis\s)(?<!that\sis\s)(?<!it\sis\s)no\s(?:more\s|longer\s(?:any\s)?|such\s"
        rf"|further\s)?{_TROUBLE}(?!\s(?:message|log|code|handling|found|report))"
        rf"|(?:{_TROUBLE}|it|this|that|they|everything|messages?|warnings?|behaviou?r)\s(?:is|are|was"
        rf"|were)\s(?:\w+\s)?(?:gone|history)"
        rf"|(?:{_TROUBLE}|it)\s(?:have\s|has\s)?(?:stopped(?!\s\w)|ceased|gone)"
        rf"|no\slonger\s(?:an?\sissue|{_HAPPENS})|stop(?:s|ped)\s(?:{_HAPPENS})|(?:back\sto|as)\snormal|all\sgood"
        rf"|good\sto\sgo"
        rf"|{_FREE}",
        "正常|就?可以了|可以(?:跑|运行|用|训练|通信|工作|正常)|(?:就|都|是)可以|可以(?=[\uff0c,。\uff1b;\uff01!\\s]|$)|好了|好使|没有?(?:任何|这个|该|此)?问题|没事"
        "|跑通|跑起来了|是好的|能(?:够)?(?:跑|用|训练|通|运行|工作|正常|连[上通])|通了|连上了|成功|ok|不(?:再|会)?再?(?:卡住|卡死|卡|报错|hang|挂起|挂|崩溃|超时|失败)"
        "|没有?再?(?:卡住|卡死|报错|超时|出现)|恢复",
    ),
    Word(
        "out", "cures",
        rf"fix(?:es|ed|ing)?|solve[sd]?|solving|resolve[sd]?|helps|helped|helping|help(?=\W*$|\sa\slot|\sat\sall)"
        rf"|cure[sd]?"
        r"|(?:did|does|do)\s(?:the\s(?:trick|job)|help)|(?<!we\s)(?<!i\s)(?<!how\s)did\sit(?=\W*$|\s?[!.,;])"
        r"|work(?:ed|s|ing)?(?:-|\s)?arounds?"
        r"|(?:makes|made)\s(?:it|this|everything)\s(?:work|run|good|fine|go|train)|clear(?:s|ed)\s(?:it|this|that)(?:\sup)?"
        r"|sort(?:s|ed)\s(?:it|this|that)(?:\sout)?|(?:sort|straighten)(?:s|ed)\sout|remedie[sd]|rectifie[sd]"
        r"|unblock(?:s|ed)"
        rf"|(?:avoid|prevent|eliminate|suppresse|stop|remove)(?:s|d|ed|ped)\s(?:the\s|this\s"
        rf"|that\s)?(?:\w+\s)?{_TROUBLE}"
        r"|(?:avoid|prevent)(?:s|ed)\sit|g[eo]ts?\srid\sof"
        r"|hides|masks|(?:makes?|made)\s(?:any|a|some)\sdifference|(?:enough|sufficient)\sto\s(?:make|get|let|have)\s(?:it|this|everything)\s\w+|(?:is|was)\s(?:the\s|our\s)(?:solution|fix|cure|remedy)"
        r"|g[eo]ts?\s(?:it|this|everything|us)\s(?:running|working|going|to\s(?:run|work))|(?<=:\s)(?:yes|yep)(?=\W*$|[,.;])"
        r"|positive\seffect|g[eo]ts?\s(?:me|us|it|everything)\spast|changed\severything",
        "解决|有效|管用|有用|起作用",
    ),
    Word(
        "out", "slower",
        r"(?:much\s|even\s|a\slot\s|way\s|far\s)?slower|slows\s(?:\w+\s)?down"
        rf"|{_SPEED}\s(?:drops?|halves|dropped|is\sworse|suffers)"
        rf"|(?:costs?|halves|lose[sd]?|lost|cuts?|drops?|reduces)\s(?:us\s|me\s)?(?:about\s|roughly\s|some\s)?(?:(?:half|a\sthird|most"
        rf"|\d+\s?%)\s)?(?:of\s)?{_SPEED}",
        "更慢|变慢",
    ),
    Word("out", "lower", rf"{_MUCH}(?:lower|worse)(?=\sthan\b|\W+compared\b|\W*$)"),
    Word("out", "higher", rf"{_MUCH}(?:higher|better)(?=\sthan\b|\W+compared\b)"),
    Word("out", "rate", rf"(?:from\s)?{_RATE}?\s?(?:to|->|instead\sof)\s{_RATE}"),
    Word(
        "out", "faster",
        r"(?:much\s|a\slot\s|way\s|far\s)?faster|(?:\w+\s)?as\sfast|full\s(?:speed|bandwidth)"
        rf"|{_SPEED}\s(?:improve[sd]?|increase[sd]?|double[sd]?|goes\sup|went\sup|is\sback|came\sback"
        r"|(?:is|goes|went|jump(?:s|ed)|rose|climb(?:s|ed))\s(?:up\s)?from)"
        r"|(?:halves|halved|shortens?|shortened|cuts?)\s(?:the\s|our\s)?(?:\w+\s)?(?:time|latency|duration)"
        rf"|(?:\d+(?:\.\d+)?\s?x|twice|double|\d+\s?%\smore)\s{_SPEED}|(?:brings?|brought|lift(?:s|ed)|push(?:es|ed)"
        rf"|rais(?:es|ed))\s{_SPEED}\s(?:up\s|back\s)?(?:from|to)|(?:doubles|doubled|triples|tripled|improve[sd]"
        rf"|boost(?:s|ed))\s{_SPEED}",
        "更快|变快|快了|提升了?|恢复正常速度",
    ),
    Word(
        "out", "onset",
        r"(?<!logistic\s)(?<!linear\s)regress(?:ions?|ed|es)(?!\s(?:tests?|models?|tasks?|loss|heads?|suite))|bisect(?:ed|s|ing)?"
        r"|(?:behaves?|behaved|performs?|performed)\sdifferently|(?:first\s)?(?:bad|offending|culprit|guilty)\s(?:nccl\s|rccl\s)?commit|got\s(?:broken|slower|worse)",
    ),
    Word(
        "out", "fails",
        rf"(?:gets?|got|see|saw|have|had|gives?|gave|throws?|raises?|causes?|caused|hits?|runs?\sinto"
        rf"|ran\sinto)\s(?:an?\s|the\s"
        rf"|this\s|these\s|that\s)?(?:(?!(?:no|any|an?|different|another|new|other|same|more"
        rf"|fewer)\s)\w+\s){{0,2}}?{_TROUBLE}"
        r"|hangs?|hung|hanging|wedge[sd]?|stuck|freez(?:es?|ing)|froze|frozen|dead-?lock(?:s|ed)?|stall(?:s|ed)?|blocks\sforever"
        r"|lock(?:s|ed|ing)?\sup|dead|sits\s(?:there|idle|forever)|just\ssits|crawls?"
        r"|time[sd]?\sout|timeouts?(?!\s(?:to|from|of)\s)|timing\sout|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?"
        r"|errors?(?:\sout)?|abort(?:s|ed)?"
        r"|\u274c|\u2718|segfaults?|dies|died|killed|breaks|broke|broken|double\sfree|oom|out\sof\smemory|no\sconnection|connection\s(?:refused"
        r"|reset|timed?\s?out)|refused|gives?\sup|blows?\sup|bails?\sout"
        r"|(?:can(?:no|'?)t|unable\sto|could\snot)\s(?:connect|start|run|train|finish|init\w*)"
        r"|never\s(?:comes|arrives|gets?|got|goes|reaches|prints|leaves|finish(?:es|ed)|returns?|starts?|completes?|connects?)"
        r"|stop(?:s|ped)\s(?:responding|moving"
        r"|progressing)"
        rf"|(?:{_DO_NOT}|{_IS_NOT})\s(?:run|start|connect|complete|finish|train)(?:ning|ing)?"
        r"|(?:wrong|incorrect|nan|garbage|corrupt(?:ed)?|inconsistent)\s(?:results?|values?|outputs?|gradients?|data"
        r"|sums?|loss(?:es)?)|nan"
        rf"|(?:this|it|problems?|all\sthis)\s(?:only\s|first\s|all\s)?(?:started|began|appeared)(?=\s(?:right\s"
        rf"|just\s|directly\s)?(?:after|since|when|once|as\ssoon)\b)"
        rf"|first\s(?:seen|noticed|observed|happened)|(?:the\s)?{_TROUBLE}\s(?:first\s)?(?:appeared|appears|starts"
        rf"|started|began|begins|showed\sup|came)(?!\s(?:again|back))"
        r"|(?<=not\s)(?:occur|happen)|(?<!nothing\s)(?:happens|happened|occurs|occurred)(?!\sto\b)|reproduc(?:es|ed|ible)|(?<=\bi\s)reproduce"
        r"|(?<=can\s)reproduce|(?<=cannot\s)reproduce|(?<=not\s)reproduce"
        r"|(?<=never\s)(?:do|does|did|show(?:s|ed)?|ha[sd]|have|see|saw)\s(?:this|that|it)",
        "(?:会)?卡(?:住|死)?|挂(?:起|住|死|了|掉)|死锁|报错|出错|失败|错误|崩溃|(?<!行)不行|不通|不能(?:跑|用|运行|训练)|无法\\w{0,4}|跑不(?:起来|了|通|动)?|起不来"
        "|必现|能?复现"
        "|超时|hang|不动",
    ),
    Word(
        "out", "weak", rf"(?<!we\s)(?<!i\s)(?<!\bto\s)(?<!\bcan\s)(?:{_GOES}|(?<=jobs\s)run|(?<=they\s)run"
            rf"|(?<=tests\s)run|(?:(?<=job\s)|(?<=jobs\s)|(?<=training\s)|(?<=it\s))(?:started|finished|completed)"
            rf"|pass|flat|agrees?|good|great|correct)", ""),
    Word("out", "weak-fails", r"(?<!the\s)bad|slow|garbage|wrong|trouble\sstarts", ""),
    Word(
        "noun", "",
        rf"(?:the|this|that|my|our|such|these|those)\s(?:(?!{_ACTORS}\s)\w+\s)?{_TROUBLE}(?!\s(?:to|from|of|still"
        rf"|persist|remain|stay"
        rf"|stopped|ceased|comes\sback|came\sback|(?:is|are)\sback|have\s(?:stopped|ceased)|turns?\sinto|becomes"
        rf"|became|(?:is|was|are|were)\s(?:still"
        rf"|replaced|(?:\w+\s)?(?:gone|history))))",
    ),
    Word(
        "ellipsis", "not",
        rf"(?:{_DO_NOT}|{_IS_NOT}|(?:can|could)(?:n'?t|not|\snot))(?=\W*$|\s?[,.;)]|\s(?:with|on|in|for|when|if|under"
        rf"|at|using)\b)"
        r"|(?:is|are|was|were|had|have)\snone(?=\W*$|\s?[,.;)])",
    ),
    Word("ellipsis", "not here", r"(?:not|never)(?=\s(?:with|on|in|for|when|if|under|at|using)\b)"),
    Word("ellipsis", "so", r"(?:neither|nor|so)\s(?:do|does|did|is|was|are|has|have)(?!\sit\b)"),
    Word("ellipsis", "yes", r"(?:always\s|also\s)?(?:do|does|did)(?:\stoo|\sas\swell|\salways)?(?=\W*$|\s?[,.;)])"),
)  # fmt: skip
"""``ellipsis``: what an auxiliary verb alone repeats or denies of the outcome before, as in ``A works, B does not``."""
INVERSE = {"works": "fails", "fails": "works", "cures": "same", "faster": "same"}
"""What an outcome becomes behind a denial; the others say nothing then."""
