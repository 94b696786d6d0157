"""The words for what came of a change, in English and Chinese: it works, fails, is as before, is slower.

A word of ``weak`` kind says so only at the end of what it says, or beside another outcome: ``it runs`` against ``it
runs in a container``.
"""

from __future__ import annotations

from ncdiag.parsers.user_text.speeds import SPEEDS
from ncdiag.parsers.user_text.words import Word

_TROUBLE = (
    r"(?:issues?|problems?|errors?|hangs?|hanging|crash(?:es)?|deadlocks?|timeouts?|failures?|faults?|bugs?"
    r"|trouble|symptoms?|freezes?|stalls?|segfaults?|oom|xids?|slow-?down|illegal\smemory\saccess(?:es)?)"
)
_ACTORS = (
    r"(?:\w+[^\Wus]s|job|run|process|training|program|script|code|rank|node|server|machine|model|worker|trainer"
    r"|test|app|container|pod)"
)
"""Who may hang or crash, so that the word behind it is a verb."""
_AUX = r"(?:did|does|do|has|have|had|will|would)"
_DO_NOT = rf"(?:{_AUX}(?:n'?t|\snot)|won'?t)"
_IS_NOT = r"(?:is|are|was|were|am)(?:n'?t|\snot)"
_FREE = (
    rf"with(?:out|\sno)\s(?:any\s|an?\s(?:single\s)?|further\s|more\s)?(?:\w+\s)?(?:{_TROUBLE}|hitch(?:es)?"
    rf"|glitch(?:es)?|incidents?|complaints?|hiccups?)"
)
_THROUGH = (
    r"through(?=\W*$|\s?[,.;:!)]|\s(?:now|again|with(?:out)?|cleanly|fine|and|but|every|smoothly|just|to|nicely"
    r"|when|if|once|after|since)\b)"
)
_WELL = (
    rf"(?:{_THROUGH}|fine|ok(?:ay)?|well|normal(?:ly)?|properly|correctly|smoothly|successfully|perfectly|flawlessly"
    r"|reliably|(?:just\s)?as\s(?:expected|before|intended|it\sshould)|like\s(?:before|a\scharm)|again|overnight"
    r"|instantly|immediately"
    rf"|right\saway|at\sonce|clean(?:ly)?|every\s(?:single\s)?time|each\stime|all\s(?:night|day)|happily|nicely"
    rf"|stabl[ey]|(?:solid|glad)ly|for\s(?:\w+\s)?(?:days|hours|weeks)(?!\s(?:and|but|before|until|then)\b)"
    rf"|to\s(?:completion|the\send)|{_FREE})"
)
_GO = (
    r"(?:runs?|ran|running|goes|went|completes?|completed|finishe[sd]|finish|starts?|started|trains?|trained"
    r"|works?|worked|working|connects?|connected|initiali[sz]e[sd]?|proceeds|proceeded|continues|continued|loads"
    r"|loaded|launche[sd]|comes?\sup|came\sup|behaves?|behaved|scales|scaled|converges|converged|trains|(?:is|are"
    r"|gets?|got|was|were)\s(?:now\s)?established)"
)
_GOES = (
    r"(?:runs|ran|completes|completed|finishes|finished|starts(?!\sto\b)|trains|connects|proceeds"
    r"|continues(?!\sto\b)|initiali[sz]es|loads|launches|comes?\sup|came\sup|(?:does|did)\s(?:indeed\s)?(?:run"
    r"|work|complete|finish|start|train|connect)|scales|converges|responds|answers|(?:gets?|got)\sestablished"
    r"|goes\sthrough)"
)
"""What a job does that gets on, beside a word of `_WELL`; and what says so at the end or beside another outcome."""
_HAPPENS = (
    r"(?:hang(?:s|ing)?|hung|stuck|freez(?:e|es|ing)|frozen|deadlocks?|stalls?|crash(?:es|ing)?|fail(?:s|ing)?"
    r"|tim(?:es?|ing)\sout|lock(?:s|ing)?\sup)"
)
_DENIED = (
    rf"(?:never|no\slonger|can(?:no|'?)t|could(?:n't|\snot|\snever)|{_AUX}(?:n'?t|\snot|\snever)|(?:'ve"
    rf"|'m)\s(?:not|never))"
)
_SEE = (
    r"(?:see|saw|seen|seeing|get|got|getting|gotten|observed?|encounter(?:ed)?|hit|have|had|experienced?|shown?"
    r"|exhibit|suffer\sfrom)"
)
_OCCUR = (
    r"(?:occur(?:s|red|ring)?|happen(?:s|ed|ing)?|(?:re)?appear(?:s|ed|ing)?|recur(?:s|red|ring)?|surface[sd]?"
    r"|(?:show|pop|turn|come)(?:s|n|ed|ped|ing|ping)?\s(?:up|back)|came\s(?:up|back)|reproduc(?:es|ed|ible))"
)
"""What somebody no longer does, and what a trouble no longer does."""
_AT_AN_END = (
    r"(?=\W*$|\s?[,.;:!)]|\s(?:any\s?more|again|since|so\sfar|ever|with|when|after|at\sall|now|if|under|for)\b)"
)
_OF_MACHINES = (
    r"(?:\s(?:the|our|all|these|over|by|across|between|which|down|to))*\s"
    r"(?:nodes?|hosts?|machines?|servers?|gpus?|ranks?|racks?|nics?|cables?|ports?|rails?|switch(?:es)?|pairs?)\b"
)
"""Things other than releases that people bisect."""
_RUN = r"(?:run|train|start|work|finish|complete|connect|pass|go|init\w*)"
_HELP = (
    r"(?:help|fix|solve|resolve|cure|change|matter|improve|affect|do|cut|bring(?!\s(?:it|this|that)\s(?:about|on"
    r"|back))|achieve|yield|care|influence|work\sas\sa\sfix|do\sthe\s(?:trick|job)|(?:go|went)\saway|disappear"
    r"|vanish|get\s(?:better|rid\sof)|lead\s(?:us\s)?anywhere|(?:get|got|bring|brought)\s(?:me|us"
    r"|it)\s(?:any\s(?:further|where)|anywhere)|have\s(?:an|any|much)\s(?:effect|influence|impact|success))"
)
"""What did not happen where a change did not help."""
_ALIKE = (
    rf"(?:{_TROUBLE}|results?|behaviou?r|thing|outcome|story|traces?|tracebacks?|messages?|stack(?:\s?trace)?"
    rf"|picture|logs?"
    r"|outputs?|state|drop|slow-?down|performance|speed|bandwidth|throughput|numbers|rates?|pattern|spot|place"
    r"|point|step)"
)

OUTCOMES = (
    Word(
        "out", "same",
        rf"(?:makes?|made|making)\s(?:absolutely\s)?no\sdifference|{_DO_NOT}\s(?:make|made)\s(?:a|any|much)\sdifference"
        r"|(?:(?:with|had|has|have|to)\s)?no\s(?:real\s|visible\s|noticeable\s)?(?:effects?|difference|changes?|help"
        r"|luck|improvements?|avail|success|impact|dice|joy|influence|use|good|consequences?|progress)|(?:is|are"
        r"|was|seems?)\sindependent\sof|(?:does|do|did)(?:n't|\snot)\sdepend\son|of\sno\s(?:use|help|avail"
        r"|consequence)|(?:leads?|led|g[eo]ts?\s(?:us|me|you))\snowhere|nothing\shelp(?:s|ed)|(?:brings?|brought"
        r"|yield(?:s|ed)|achieve[sd])\snothing|(?<=[:>,]\s)nothing(?=\W*$)"
        rf"|(?:fail(?:s|ed)?|(?:was|were|is|are)\snot\sable)\sto\s(?:help|fix|solve|resolve|cure|prevent|avoid)"
        rf"|(?:the\s)?same\s{_TROUBLE}\s(?:pops?\sup|comes?\sup|shows?\sup|happens|occurs|appears)"
        rf"|{_TROUBLE}\s(?:is|are)\s(?:still\s)?(?:back|around|with\sus|not\s(?:fixed|solved|resolved|gone))"
        r"|(?:is|are)\sstill\s(?:down|missing|broken|dead|bad|wrong|slow|unreachable)"
        rf"|(?:it|this|that)\s?(?:'s|\sis)\sstill\s(?:there|present|happening|around)"
        r"|(?:behaves?|behaved|looks?|looked|ends?|ended|shows?|showed)\s(?:exactly\s|just\s)?the\ssame(?!\s\w)"
        r"|(?:is|are|was|were)\s(?:no|not\sany)\s(?:different|better)|just\sas\s(?:much|bad(?:ly)?|slow(?:ly)?"
        r"|often)|no\sbetter|chang(?:e[sd]?|ing)\snothing|nothing\schange[sd]|(?:did|does|do|doing)\snothing"
        r"|unchanged|identical|(?:use|point|fruit|worth)less|futile|in\svain|for\snothing|(?:a\s)?waste\sof\stime"
        rf"|{_DO_NOT}\s(?:really\s|actually\s|seem\sto\s|even\s)?{_HELP}(?:ed"
        r"|d)?(?:\sanything|\sit|\seither)?(?!\s(?:this|not))"
        rf"|{_IS_NOT}\s(?:a\s|the\s)?(?:help(?:ful|ing)?|fix|solution|cure)|(?:is|was)\sno\s(?:help|fix|solution"
        rf"|cure)|(?:exactly\s|just\s|still\s)?(?:the\s)?(?:very\s|exact\s)?same\s(?:(?={_ALIKE}\b)"
        rf"|(?!(?:\w+\s)?{_ACTORS}\s))(?:\w+\s){{0,2}}{_ALIKE}(?:\sonly)?(?!\sas\s(?:in|here|described|mentioned"
        rf"|reported|you|this|that|above|\W))|(?:results?|outcome|picture|{_TROUBLE})\s(?:did|does|has|is"
        rf"|was)(?:n't|\snot)\s(?:change[d]?|different|differ)"
        r"|(?:is|are|was|stays?|stayed|remains?|remained)\s(?:exactly\s)?the\ssame|(?:just|all"
        r"|still)\s(?:exactly\s)?the\ssame|(?<=:\s)(?:nope|no)(?=\W*$|[,.;])|not\s(?:enough|sufficient)|no\sodds"
        r"|still\s(?:at|only|around)\s\d+|without\s(?:any\s)?(?:success|effect|luck|improvement|result|change)"
        r"|^\W*(?:the\s)?same(?=\s(?:with|without|outside|for|on|when|if|using|in|after)\b)"
        r"|(?:the\s)?same\s(?:happens|occurs)|(?<=[:>,]\s)same(?=\W*$)"
        rf"|{_TROUBLE}\s(?:still\s|just\s|simply\s)?(?:persists?|survives?|survived|remains?|persisted|remained"
        rf"|stays|stayed|continues?|comes\sback|came\sback"
        r"|(?:is|are)\s(?:still\s)?(?:there|present))|persists|persisted|(?:occurs?|occurred|happens?|happened"
        r"|appears?|appeared)\sagain|(?:it|this)\s(?:comes|came)\sback|(?:only|just|merely)\s(?:delay|postpone"
        r"|move|shift|defer|hide)(?:s|d|ed)|either\sway|so\sdid\sit\swithout(?:\sit)?",
        "没有?用(?![过上到])|无用|无效|没有?效果?|不起作用|不管用|没有?(?:任何)?(?:作用|帮助|用处|效果)|(?:没有?|不能|无法|未能?)解决|没有?(?:变化|区别|改善|任何变化)"
        "|(?:问题|现象)(?:依旧|依然|仍然|还在|仍在|还是存在)|(?:还是|依旧|仍然?|依然|也是?|都)一样"
        "|同样(?:的)?(?:问题|错误?|报错|卡住)|一样(?:的)?(?:问题|错误?|报错|卡)",
    ),
    Word(
        "out", "other",
        r"(?:with\s)?(?:an?\s|some\s)?(?:(?:\w+ly\s)?different|another|other|new)\s(?:\w+\s){0,2}(?:errors?"
        r"|failure|problem|issue|crash|exception|(?:error\s)?messages?)"
        rf"|{_TROUBLE}\s(?:is\s|was\s)?(?:replaced\sby|turn(?:s|ed)\sinto|become[sd]?|became|change[sd]\s(?:to|into))",
        "(?:报|变成|换)了?(?:另一个|别的|其他|新的|不同的)(?:错误?|问题)|错误变成",
    ),
    Word(
        "out", "gone",
        r"(?<!and\s)(?<!we\s)(?<!i\s)(?:goes|went|gone|go|going)\saway|disappear(?:s|ed)?|vanish(?:es|ed)?"
        rf"|(?:have|has)(?:n't|\snot|\snever)\s(?:been\s)?(?:seen(?!\s\w+[=_])|happened|occurred|reappeared"
        rf"|come\sback)|(?:can(?:no|'?)t|could(?:n't|\snot|\snever)|no\slonger|unable\sto"
        rf"|not\sable\sto)\s(?:reproduce|trigger|provoke)\s(?:it|this|that|the\s\w+)|{_DENIED}\s(?:(?:been|yet"
        rf"|ever|once|again|able\sto|had|really)\s){{0,2}}{_SEE}\s(?:(?:it|this|that|them|those){_AT_AN_END}"
        rf"|(?:the|this|that|those|these|any|an?|such|one|our|more|further)\s(?:\w+\s){{0,2}}?(?:{_TROUBLE}"
        rf"|corruption)(?!\s(?:message|log|code|in\b)))|(?:(?:the|this|that|our|my|such|these|those"
        rf"|same)\s(?:\w+\s)?)?{_TROUBLE}\s(?:(?:is|are|was|were|does|do|did|has|have|had)(?:n't|\snot|\snever)"
        rf"|no\slonger|never)\s(?:been\s|any\s?more\s)?(?:{_OCCUR}|coming|seen|observed|there)|(?:it|this|that"
        rf"|which|they)\s(?:(?:is|does|did|has|have|had)(?:n't|\snot|\snever)|no\slonger|never)\s(?:occur(?:s|red"
        rf"|ring)?|happen(?:s|ed|ing)?|reappear(?:s|ed)?|recur(?:s|red)?|(?:come|came)\sback)"
        rf"|free\sof\s(?:\w+\s)?{_TROUBLE}"
        r"|(?:(?<=hang\s)|(?<=error\s)|(?<=crash\s)|(?<=problem\s)|(?<=issue\s))gone",
        "消失了?|没了",
    ),
    Word(
        "out", "works",
        rf"(?:gets?|got|makes?\sit|made\sit|comes?|came|goes|went|gone|runs?|ran|sails?"
        rf"|sailed)\s(?:(?:all\sthe\sway|straight|right)\s)?{_THROUGH}|{_GO}(?:\s(?:it|this|them"
        rf"|everything))?\s(?:all\s|just\s|perfectly\s|quite\s|up\s)?{_WELL}"
        r"|(?<!else\s)(?:works|worked)"
        r"|(?<!of\s)(?<!is\s)(?<!some\s)(?<!much\s)(?<!more\s)(?<!needs\s)(?<!the\s)(?<!at\s)(?<!my\s)work(?!\s"
        r"(?:on|in\sprogress|nodes?|hosts?|machines?|director(?:y|ies)|dir|groups?|queues?|items?|loads?"
        r"|requests?))|(?:is|was|are|were|get|got|gets|now|not|it)\sworking(?!\s(?:on|at|for|with)\b)"
        r"|working(?=\s(?:now|again)|\W*$)|(?:it|this|that|they|everything|all)'s\s(?:\w+\s)?(?:gone|history"
        r"|over)|(?:is\s|are\s|was\s)?(?:now\s)?up\sand\srunning"
        rf"|(?:zero|not\sa\ssingle|not\sone|without\sa\ssingle)\s(?:\w+\s)?{_TROUBLE}|(?:gets?|got|getting"
        rf"|made\sit|makes\sit|comes?|came)\spast(?!\s\d)|(?:is|are|was|looks?)\s(?:\w+\s)?as\s(?:it\sshould"
        rf"|expected)|happy\sagain|back\s(?:in\sbusiness|on\strack)"
        r"|(?:loss|gradients?|values?|results?)\s(?:is|are|stays?|remains?|looks?|becomes?)\s(?:\w+\s)?(?:finite"
        rf"|sane|normal|stable|correct|right)|rock[-\s]?solid|(?:back\s)?to\slife|able\sto\s(?:now\s)?{_RUN}"
        rf"|(?:can\s(?:now|finally)|could\sfinally)\s{_RUN}|(?:is|are|was|were|comes?)\sclean"
        r"|(?:all\s)?green(?=\W*$|\s?[,.;!)])|been\s(?:stable|fine|ok(?:ay)?|good|quiet)|been\s(?:running"
        r"|training|up|going)\s(?:\w+\s){0,4}?(?:now|without|fine|since|stabl[ey]|smoothly|so\sfar)"
        r"|(?<=steps\s)clean|(?<=runs\s)clean|(?<=[:|]\s)(?:clean|good|yes)(?=\W*$)|\u2705|\u2714|succeeds?"
        r"|succeeded|success|successful(?:ly)?|fine|ok(?:ay)?(?!\s(?:so|i|we|let|here|then|this|now\si)\b)|passes"
        r"|passed|(?:find|see|reach|talk\sto)\s(?:each\sother|one\sanother)|all\s(?:is|are)\s(?:well|fine|good)"
        r"|all\s(?:is|was)\squiet|off\sit\sgoes|that\swas\sit|perfect|back\s(?:to|at)\s\d+|(?:like\sa\scharm)"
        r"|survives?|survived|recovers|recovered|stable|keeps?\s(?:going|running)"
        rf"|(?<!which\sis\s)(?<!that\sis\s)(?<!it\sis\s)no\s(?:more\s|longer\s(?:any\s)?|such\s"
        rf"|further\s)?{_TROUBLE}(?!\s(?:message|log|code|handling|found|report))|(?:{_TROUBLE}|it|this|that|they"
        rf"|everything|messages?|warnings?|behaviou?r)\s(?:is|are|was|were)\s(?:\w+\s)?(?:gone|history)"
        rf"|(?:{_TROUBLE}|it)\s(?:have\s|has\s)?(?:stopped(?!\s\w)|ceased|gone)|no\slonger\s(?:an?\sissue"
        rf"|{_HAPPENS})|stop(?:s|ped)\s(?:{_HAPPENS})|(?:back\sto|as)\snormal|all\sgood|good\sto\sgo|{_FREE}",
        "正常|就?可以了|可以(?:跑|运行|用|训练|通信|工作|正常)|(?:就|都|是)可以|可以(?=[\uff0c,。\uff1b;\uff01!\\s]|$)|好了|好使|没有?(?:任何|这个|该|此)?问题|没事"
        "|跑通|跑起来了|是好的|能(?:够)?(?:跑|用|训练|通|运行|工作|正常|连[上通])|通了|连上了|成功|ok|不(?:再|会)?再?\\s?(?:oom|爆显存|卡住|卡死|卡|报错|hang"
        "|挂起|挂|崩溃|超时|失败)"
        "|没有?再?(?:卡住|卡死|报错|超时|出现)|恢复",
    ),
    Word(
        "out", "cures",
        rf"fix(?:es|ed|ing)?|solve[sd]?|solving|resolve[sd]?|helps|helped|helping|help(?=\W*$|\sa\slot|\sat\sall)"
        rf"|cure[sd]?"
        r"|(?:did|does|do)\s(?:the\s(?:trick|job)|help)|(?<!we\s)(?<!i\s)(?<!how\s)did\sit(?:\sfor\s(?:me"
        r"|us))?(?=\W*$|\s?[!.,;])|work(?:ed|s|ing)?(?:-|\s)?arounds?|(?:makes|made)\s(?:it|this"
        r"|everything)\s(?:work|run|good|fine|go|train)(?!\s(?:at|slow|only|half|\w+er\b))|clear(?:s|ed)\s(?:it"
        r"|this|that)(?:\sup)?|sort(?:s|ed)\s(?:it|this|that)(?:\sout)?|(?:sort|straighten)(?:s|ed)\sout"
        r"|remedie[sd]|rectifie[sd]|unblock(?:s|ed)"
        rf"|(?:avoid|prevent|eliminate|suppresse|stop|remove)(?:s|d|ed|ped)\s(?:the\s|this\s"
        rf"|that\s)?(?:\w+\s)?{_TROUBLE}"
        r"|(?:avoid|prevent)(?:s|ed)\sit|g[eo]ts?\srid\sof|hides|masks|(?:makes?|made)\s(?:any|a"
        r"|some)\s(?:\w+\s)?difference|(?:enough|sufficient)\sto\s(?:make|get|let|have)\s(?:it|this"
        r"|everything)\s\w+|(?:is|was)\s(?:the\s|our\s)(?:solution|fix|cure|remedy|answer)|g[eo]ts?\s(?:it|this"
        r"|everything|us)\s(?:running|working|going|to\s(?:run|work))|(?<=:\s)(?:yes|yep)(?=\W*$|[,.;])"
        r"|positive\seffect|g[eo]ts?\s(?:me|us|it|everything)\s(?:past|over|through|around)|changed\severything"
        r"|(?:is|was|turned\sout\sto\sbe)\sthe\s(?:missing\s(?:piece|bit|part)|key|trick|culprit\sto\sremove)"
        r"|(?:makes|made)\sall\sthe\sdifference|was\s(?:already\s)?(?:enough|sufficient)(?=\W*$|\s?[.,;])|(?:is"
        r"|was|are|were|be)\s(?:avoided|prevented|circumvented|worked\saround)(?=\s(?:by|with|when|if)\b)"
        r"|(?:saved|rescued|saves|rescues)\s(?:us|me|the\sday|it)|(?:(?:is|was)\s)?(?:needed|necessary"
        r"|required)\sto\s(?:make|get)\s(?:it|this|everything)\s\w+|(?:gets?|got|getting|works?"
        r"|worked)\saround\s(?:it|this|that|the\s\w+)|(?:does|did|do|doing|done)\saway\swith|puts?\san\send\sto"
        rf"|(?:lets?|allow(?:s|ed))\s(?:it|us|me|everything|the\s\w+)\s(?:to\s)?{_RUN}"
        r"|(?:keeps?|kept)\s(?:it|us|everything|the\s\w+)\s(?:alive|going|running|stable)|(?:is"
        r"|was)\sall\s(?:that\s)?(?:it|we|i)?\s?(?:took|(?:was\s)?needed)|(?:the|our|my)\s(?:solution|fix|cure"
        r"|remedy)\swas(?!\s(?:not|no|n't))|(?:brings?|brought)\s(?:it|us|everything|the\s\w+)\sback(?!\s(?:from"
        r"|to\s(?:square|\d)))",
        "解决|有效|管用|有用|起作用",
    ),
    Word("out", "differs", r"(?:change[sd]?|altere?d?|improve[sd]?)\s(?:anything|things|(?:the|our)\s(?:picture"
                           r"|results?|outcome|behaviou?r|situation|symptoms?))"),
    *SPEEDS,
    Word(
        "out", "onset",
        r"(?<!logistic\s)(?<!linear\s)regress(?:ions?|ed|es)(?!\s(?:tests?|models?|tasks?|loss|heads?|suite))"
        rf"|bisect(?:ed|s|ing)?(?!{_OF_MACHINES})|(?:behaves?|behaved|performs?|performed)\sdifferently|(?:first\s)?(?:bad|offending"
        r"|culprit|guilty)\s(?:nccl\s|rccl\s)?commit|got\s(?:broken|slower|worse)",
    ),
    Word(
        "out", "fails",
        rf"(?:gets?|got|getting|see|saw|seeing|have|had|having|gives?|gave|giving|throws?|threw|throwing|raises?"
        rf"|causes?|caused|causing|hits?|hitting|runs?\sinto|ran\sinto|running\sinto|faces?|facing|faced|shows?"
        rf"|showing|ends?\s(?:up\s)?(?:in|with)|ended\s(?:up\s)?(?:in|with)|(?:comes?|came|leads?"
        rf"|led)\sto)\s(?:an?\s|the\s|this\s|these\s|that\s)?(?:(?!(?:no|any|an?|different|another|new|other|same"
        rf"|more|fewer)\s)\w+\s){{0,2}}?{_TROUBLE}|(?:started|starts|began|begins)\sto\s{_HAPPENS}"
        r"|hangs?|hung|hanging|wedge[sd]?|stuck|freez(?:es?|ing)|froze|frozen|dead-?lock(?:s|ed)?|stall(?:s|ed)?"
        r"|blocks\sforever|lock(?:s|ed|ing)?\sup|dead|sits\s(?:there|idle|forever)|just\ssits|crawls?"
        r"|time[sd]?\sout|timeouts?(?!\s(?:to|from|of)\s)|timing\sout|crash(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?"
        r"|errors?(?:\sout)?(?!\s(?:messages?|logs?|codes?|output)\b)|abort(?:s|ed)?|\u274c|\u2718|segfaults?"
        r"|dies|died|killed|breaks|broke|broken|double\sfree|oom|out\sof\smemory|no\sconnection"
        r"|connection\s(?:refused|reset|timed?\s?out)|refused|gives?\sup|blows?\sup|bails?\sout|(?:can(?:no|'?)t"
        r"|unable\sto|could\snot)\s(?:connect|start|run|train|finish|init\w*)|never\s(?:comes|arrives|gets?|got"
        r"|goes|reaches|prints|leaves|finish(?:es|ed)|returns?|starts?|completes?|connects?)|stop(?:s"
        r"|ped)\s(?:responding|moving|progressing)"
        rf"|(?:{_DO_NOT}|{_IS_NOT})\s(?:even\s|ever\s|yet\s)?(?:run|start|connect|complete|finish|train)(?:ning"
        rf"|ing)?|(?:kills?|breaks?|broke|crashe[sd])\s(?:it|us|everything|this|(?:the|our|my)\s(?:job|run"
        rf"|training|process(?:es)?|workers?|ranks?|model))|(?:stops?|stopped|quits?|ceased?)\s(?:working|running"
        rf"|training|connecting)|refuse[sd]?\sto\s{_RUN}|(?:falls?|fell|fallen)\s(?:over|apart|off|out)|(?:drop"
        rf"|disconnect)(?:s|ped|ed)?\s(?:out|off)|disconnect(?:s|ed)|(?:brings?|brought|takes?|took)\s(?:it"
        rf"|everything|the\s\w+)\sdown|r[au]ns?\sout\sof\s(?:\w+\s)?memory"
        r"|(?:wrong|incorrect|nan|garbage|corrupt(?:ed)?|inconsistent)\s(?:results?|values?|outputs?|gradients?"
        r"|data|sums?|loss(?:es)?)|nan"
        rf"|(?:this|it|problems?|all\sthis)\s(?:only\s|first\s|all\s)?(?:started|began|appeared)(?=\s(?:right\s"
        rf"|just\s|directly\s)?(?:after|since|when|once|as\ssoon)\b)|first\s(?:seen|noticed|observed|happened)"
        rf"|(?:the\s)?{_TROUBLE}\s(?:first\s)?(?:appeared|appears|comes|arises|arose|(?:pops|turns|shows)\sup"
        rf"|starts|started|began|begins|showed\sup|came)(?!\s(?:again|back))"
        r"|(?<=not\s)(?:occur|happen)|(?<!nothing\s)(?:happens|happened|occurs|occurred)(?!\sto\b)|reproduc(?:es"
        r"|ed|ible)|(?<=\bi\s)reproduce|(?<=can\s)reproduce|(?<=cannot\s)reproduce|(?<=not\s)reproduce"
        r"|(?<=never\s)(?:do|does|did|show(?:s|ed)?|ha[sd]|have|see|saw)\s(?:this|that|it)",
        "(?:会)?卡(?:住|死)?|挂(?:起|住|死|了|掉|(?=[\uff0c,。；!]|$))|死锁|报错|出错|失败|错误|崩溃|(?<!行)不行|不通|连(?:接)?不上|不能(?:跑|用|运行"
        "|训练)|无法\\w{0,4}"
        "|跑不(?:起来|了|通|动)?|起不来"
        "|必现|能?复现"
        "|超时|hang|不动",
    ),
    Word(
        "out", "weak", rf"(?<!we\s)(?<!i\s)(?<!\bto\s)(?<!\bcan\s)(?:{_GOES}|(?<=jobs\s)run|(?<=they\s)run"
                       rf"|(?<=tests\s)run|(?:(?<=job\s)|(?<=jobs\s)|(?<=training\s)|(?<=it\s))(?:started"
                       rf"|finished|completed)|pass|flat|agrees?|good|great|correct)", ""),
    Word("out", "weak",
         r"(?:(?<=ranks\s)|(?<=workers\s)|(?<=nodes\s)|(?<=hosts\s)|(?<=pods\s)|(?<=processes\s))(?:connect|start"
         r"|run|finish|train)"
         rf"|(?:is|are)\s(?:now\s)?(?:running|training)(?!\s{_WELL})"),
    Word("out", "weak-fails", r"(?<!the\s)bad|slow|garbage|wrong|trouble\sstarts", ""),
    Word(
        "noun", "",
        rf"(?:the|this|that|my|our|such|these|those)\s(?:(?!{_ACTORS}\s)\w+\s)?{_TROUBLE}(?!\s(?:to|from|of|still"
        rf"|persist|surviv|remain|stay|stopped|ceased|comes\sback|came\sback|(?:is|are)\sback|have\s(?:stopped"
        rf"|ceased)|turns?\sinto|becomes|became|(?:is|was|are|were)\s(?:still|replaced|(?:\w+\s)?(?:gone|history))))",
    ),
    Word(
        "ellipsis", "not",
        rf"(?:{_DO_NOT}|{_IS_NOT}|(?:can|could)(?:n'?t|not|\snot))(?=\W*$|\s?[,.;)]|\s(?:with|on|in|for|when|if"
        rf"|under|at|using)\b)"
        r"|(?:is|are|was|were|had|have)\snone(?=\W*$|\s?[,.;)])",
    ),
    Word("ellipsis", "not here", r"(?:not|never)(?=\s(?:with|on|in|for|when|if|under|at|using)\b)"),
    Word("ellipsis", "so", r"(?:neither|nor|so)\s(?:do|does|did|is|was|are|has|have)(?!\sit\b)"),
    Word("ellipsis", "yes", r"(?:always\s|also\s)?(?:do|does|did)(?:\stoo|\sas\swell|\salways)?(?=\W*$|\s?[,.;)])"),
)  # fmt: skip
"""``ellipsis``: what an auxiliary verb alone repeats or denies of the outcome before, as in ``A works, B does not``."""
INVERSE = {"works": "fails", "fails": "works", "cures": "same", "faster": "same", "differs": "same"}
"""What an outcome becomes behind a denial; the others say nothing then."""
