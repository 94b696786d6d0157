"""The words for what came of a change, in English and Chinese: it works, fails, is as before, is slower.

A word of ``weak`` kind says so only at the end of what it says, or beside another outcome: ``it runs`` against ``it
runs in a container``.
"""

from __future__ import annotations

from ncdiag.parsers.told.words import Word

_TROUBLE = (
    r"(?:issues?|problems?|errors?|hang(?:s|ing)?|crash(?:es)?|deadlocks?|timeouts?|failures?|bug|trouble|freeze)"
)
_DO_NOT = r"(?:did|does|do|has|have|had|will|would)(?:n'?t|\snot)"
_IS_NOT = r"(?:is|are|was|were|am)(?:n'?t|\snot)"
_WELL = (
    r"(?:through|fine|ok(?:ay)?|well|normally|properly|correctly|smoothly|successfully|perfectly|as\sexpected"
    rf"|to\s(?:completion|the\send)|with(?:out|\sno)\s(?:any\s|an\s)?(?:\w+\s)?{_TROUBLE})"
)
_HAPPENS = r"(?:hang(?:s|ing)?|hung|stuck|freez(?:e|es|ing)|frozen|deadlocks?|stalls?|crash(?:es|ing)?|fail(?:s|ing)?)"

OUTCOMES = (
    Word(
        "noun", "",
        rf"(?:the|this|that|my|our|such|these|those)\s(?:\w+\s)?{_TROUBLE}(?!\s(?:to|from|of|still|persist|remain|stay"
        rf"|is\sstill))",
    ),
    Word(
        "out", "same",
        rf"(?:makes?|made|making)\s(?:absolutely\s)?no\sdifference|{_DO_NOT}\s(?:make|made)\s(?:a|any|much)\sdifference"
        r"|(?:with|had|has|have|to)?\s?no\s(?:real\s)?(?:effect|difference|changes?|help|luck|improvements?|avail"
        r"|success"
        r"|impact)"
        r"|no\sbetter|nothing\schange[sd]|(?:did|does|do|doing)\snothing|unchanged|identical|useless|in\svain"
        rf"|{_DO_NOT}\s(?:really\s|actually\s|seem\sto\s|even\s)?"
        r"(?:help|fix|solve|resolve|cure|change|matter|improve|affect|do)(?:ed|d)?(?:\sanything|\sit"
        r"|\seither)?(?!\s(?:this|not))"
        rf"|{_IS_NOT}\s(?:a\s|the\s)?(?:help(?:ful|ing)?|fix|solution)|(?:is|was)\sno\s(?:help|fix|solution|cure)"
        r"|(?:exactly\s|just\s)?(?:the\s)?(?:very\s|exact\s)?same\s(?:\w+\s){0,2}"
        rf"(?:{_TROUBLE}|results?|behaviou?r|thing|outcome|story|symptoms?|traces?|messages?)"
        r"|(?:is|are|was|stays?|stayed|remains?|remained)\s(?:exactly\s)?the\ssame|just\sthe\ssame|all\sthe\ssame"
        r"|^\W*(?:the\s)?same(?=\s(?:with|without|outside|for|on|when|if|using|in|after)\b)|(?:the\s)?same\s(?:happens|occurs)|(?<=[:>,]\s)same(?=\W*$)"
        rf"|{_TROUBLE}\s(?:still\s)?(?:persists?|remains?|persisted|remained|stays|stayed|is\sstill\sthere)"
        r"|either\sway|so\sdid\sit\swithout(?:\sit)?",
        "没有?用(?!过)|无用|无效|没有?效果?|不起作用|不管用|没有?作用|(?:没有?|不能|无法|未能?)解决|没有?(?:变化|区别|改善|任何变化)"
        "|(?:问题|现象)(?:依旧|依然|仍然|还在|仍在|还是存在)|(?:还是|依旧|仍然?|依然|也是?|都)一样"
        "|同样(?:的)?(?:问题|错误|报错|卡住)|一样(?:的)?(?:问题|错误|报错|卡)",
    ),
    Word(
        "out", "other",
        r"(?:a\s|an\s|some\s|with\s)?(?:different|another|other|new)\s(?:\w+\s){0,2}"
        r"(?:errors?|failure|problem|issue|crash|exception|error\smessage)",
        "(?:报|变成|换)了?(?:另一个|别的|其他|新的|不同的)(?:错误?|问题)|错误变成",
    ),
    Word(
        "out", "works",
        rf"(?:runs?|ran|running|goes|went|completes?|completed|finishe[sd]|finish|starts?|started|trains?|trained"
        rf"|works?"
        rf"|worked|working|connects|initiali[sz]es)\s(?:all\s|just\s|perfectly\s|quite\s)?{_WELL}"
        r"|works|worked"
        r"|(?<!of\s)(?<!is\s)(?<!some\s)(?<!much\s)(?<!more\s)(?<!needs\s)(?<!the\s)(?<!at\s)(?<!my\s)work(?!\s(?:on|in\sprogress))"
        r"|(?:is|was|are|were|get|got|gets|now|not|it)\sworking(?!\s(?:on|at|for|with)\b)"
        r"|working(?=\s(?:now|again)|\W*$)"
        r"|succeeds?|succeeded|successful(?:ly)?|fine|ok(?:ay)?|passes|passed"
        rf"|no\s(?:more\s|longer\s(?:any\s)?|such\s|further\s)?{_TROUBLE}(?!\s(?:message|log|code|handling|found|report))"
        rf"|(?<!and\s)(?<!we\s)(?<!i\s)(?:goes|went|gone|go|going)\saway|disappear(?:s|ed)?|vanish(?:es|ed)?|(?:is|are|was)\sgone"
        rf"|no\slonger\s(?:an?\sissue|{_HAPPENS})|stop(?:s|ped)\s(?:hanging|crashing|failing)|back\sto\snormal"
        rf"|with(?:out|\sno)\s(?:any\s|an\s)?{_TROUBLE}",
        "正常|就?可以了|可以(?:跑|运行|用|训练|通信|工作|正常)|(?:就|都|是)可以|可以(?=[\uff0c,。\uff1b;\uff01!\\s]|$)|好了|好使|没有?(?:任何)?问题"
        "|跑通|能(?:够)?(?:跑|用|训练|通|运行|工作|正常)|通了|成功|ok|不再?(?:卡住|卡死|卡|报错|hang|挂起|挂|崩溃|超时|失败)"
        "|没有?再?(?:卡住|卡死|报错|超时|出现)|消失|恢复",
    ),
    Word(
        "out", "cures",
        rf"fix(?:es|ed|ing)?|solve[sd]?|solving|resolve[sd]?|helps|helped|help(?=\W*$|\sa\slot|\sat\sall)|cure[sd]?"
        r"|(?:did|does|do)\s(?:the\strick|help)|work-?\s?arounds?"
        r"|works?\saround|(?:makes|made)\s(?:it|this|everything)\s(?:work|run)"
        rf"|(?:avoid|prevent)(?:s|ed)\s(?:the\s|this\s)?(?:{_TROUBLE}|it)|g[eo]ts?\srid\sof"
        r"|changed\severything",
        "解决|有效|管用|有用|起作用",
    ),
    Word(
        "out", "slower",
        r"(?:much\s|even\s|a\slot\s|way\s|far\s)?slower|slows\s(?:it\s|everything\s)?down"
        r"|(?:bandwidth|throughput|speed|performance)\s(?:drops?|halves|dropped|is\sworse)",
        "更慢|变慢",
    ),
    Word(
        "out", "faster",
        r"(?:much\s|a\slot\s|way\s|far\s)?faster|(?:\w+\s)?as\sfast|full\s(?:speed|bandwidth)"
        r"|(?:bandwidth|throughput|speed|performance)\s(?:improve[sd]?|increase[sd]?|double[sd]?|goes\sup|went\sup|is\sback)",
        "更快|变快|快了|提升了?|恢复正常速度",
    ),
    Word(
        "out", "fails",
        rf"(?:gets?|got|see|saw|have|had|gives?|gave|throws?|raises?|causes?|caused)\s(?:an?|the|this|these|that|nccl)\s(?!different|another|new|other)(?:\w+\s)?{_TROUBLE}"
        r"|hangs?|hung|hanging|stuck|freez(?:es?|ing)|froze|frozen|dead-?lock(?:s|ed)?|stall(?:s|ed)?|blocks\sforever"
        r"|time[sd]?\sout|timeouts?(?!\s(?:to|from|of)\s)|timing\sout|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?|errors?(?:\sout)?|abort(?:s|ed)?"
        r"|segfaults?|dies|died|killed|breaks|broke|broken|no\sconnection|(?:can(?:no|'?)t|unable\sto|could\snot)\s(?:connect|start|run|train|finish|init\w*)"
        r"|never\s(?:finish(?:es|ed)|returns?|starts?|completes?|connects?)"
        rf"|(?:{_DO_NOT}|{_IS_NOT})\s(?:run|start|connect|complete|finish|train)(?:ning|ing)?"
        r"|(?:wrong|incorrect|nan|garbage)\s(?:results?|values?|outputs?)|nan|(?:does|do|did)(?:n'?t|\snot)(?=\W*$|\s?[,.;])",
        "(?:会)?卡(?:住|死)?|挂(?:起|住|死|了|掉)|死锁|报错|出错|失败|错误|崩溃|不行|不通|不能(?:跑|用|运行|训练)|无法\\w{0,4}|跑不(?:起来|了|通|动)?|起不来"
        "|超时|hang|不动",
    ),
    Word("out", "weak", r"(?<!we\s)(?<!i\s)(?:runs?|ran)|pass|good|great|correct|trains|completes|finishes|starts", ""),
    Word("out", "weak-fails", r"bad|slow|trouble\sstarts", ""),
)  # fmt: skip
INVERSE = {"works": "fails", "fails": "works", "cures": "same", "faster": "same"}
"""What an outcome becomes behind a denial; the others say nothing then."""
