"""Words of people who write in other languages than English: what tells the language, and what a complaint says in it.

Scripts of their own tell their languages by their letters; languages in Latin letters are told by their small words,
without those that English or programs have as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from ncdiag.base.patterns import lazy_regex

SCRIPT = lazy_regex(r"[\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of Cyrillic, Hebrew, Arabic, Indian, Thai, Japanese, Chinese and Korean."""
_ENOUGH = 2


class Language(msgspec.Struct, frozen=True):
    """A language in Latin letters: its small words, and the patterns of complaints by their kind.

    ``letters``: those that count as a small word, as English has none of them.
    """

    small: frozenset[str]
    complaints: tuple[tuple[str, str], ...]
    letters: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LANGUAGES = (
    Language(
        _words(
            "der das dem den und ist sind nicht kein keine ein eine einer einen einem seit beim auf mit nach bei wird"
            " wenn ich wir zu von aber nur auch noch unser unsere mein meine mehr im zwei zwischen alle"
            " folgende folgenden"
        ),
        (
            (
                "hangs",
                r"häng\w*|haengt|bleibt\s(?:\w+\s){0,3}stehen|steckt\s\w*\s?fest|friert|blockiert|reagiert\snicht",
            ),
            ("slow", r"langsam\w*|zu\slange|bricht\sein"),
            (
                "fails",
                (
                    r"fehl\w*|abgestürzt|stürzt|(?:funktioniert|geht|startet|läuft|laufen|kommt)\s(?:\w+\s){0,2}nicht"
                    r"|abgebrochen|(?:bricht|brechen)\s(?:\S+\s){0,6}ab"
                ),
            ),
        ),
        "äöüß",
    ),
    Language(
        _words(
            "le la les un une est sont pas dans aux du des sur ne avec et il je j'ai nous mais que qui rien au deux"
            " entre notre mon ça après depuis quand"
        ),
        (
            ("hangs", r"bloqu\w*|fig[ée]\w*|gel[ée]\w*|suspendu\w*|n'avance\w*|ne\sr[ée]pond\w*"),
            ("slow", r"lent\w*|ralenti\w*|trop\slong\w*"),
            (
                "fails",
                r"[ée]chou\w*|[ée]chec\w*|erreurs?|plant\w*|ne\s(?:marche|fonctionne|d[ée]marre)\w*\spas|impossible",
            ),
        ),
        "àâçèêëîïôùûœé",
    ),
    Language(
        _words(
            "el la los las un una es está están con en de del después que se y pero al nada por para entre dos nuestro"
            " mi cuando desde"
        ),
        (
            ("hangs", r"colgad[oa]s?|cuelga\w*|congela\w*|atasca\w*|bloquea\w*|no\s(?:responde|avanza)\w*"),
            ("slow", r"lent[oa]s?|lentitud|despacio|tarda\w*"),
            ("fails", r"fall[aoó]\w*|errores|error|no\s(?:funciona|arranca|conecta|puede)\w*"),
        ),
        "ñáíóú¿¡é",
    ),
    Language(
        _words(
            "o os um uma é são não em com de do da depois que se e mas ao nada por para entre dois nosso meu quando"
            " desde está"
        ),
        (
            ("hangs", r"trav\w+|congel\w+|pres[oa]s?|não\s(?:responde|avança)\w*"),
            ("slow", r"lent[oa]s?|lentidão|demora\w*"),
            ("fails", r"falh\w+|erros?|não\s(?:funciona|inicia|conecta)\w*"),
        ),
        "ãõáâçêíóú",
    ),
    Language(
        _words(
            "il lo gli un una è sono non con di del della dopo che si e ma al dei niente per tra due nostro mio quando"
            " da"
        ),
        (
            ("hangs", r"blocca\w*|impalla\w*|appes[oa]\w*|non\s(?:risponde|avanza)\w*"),
            ("slow", r"lent[oaie]\w*|rallenta\w*"),
            ("fails", r"fall(?:isce|it[oa])\w*|error[ei]|non\s(?:funziona|parte|si\sconnette)\w*"),
        ),
        "àèéìòù",
    ),
)
_SCRIPTS = (
    ("memory-grows", "(?:显存|内存|rss).{0,6}(?:涨|增长|泄[漏露]|上升)"),
    ("wrong-results", "结果(?:不对|错误|不一致|有误|不正确)|(?:loss|梯度|精度).{0,6}(?:nan|发散|不对|异常)"),
    (
        "not-used",
        "(?:没有?|未|不)(?:使?用[上到]?|走|启用).{0,8}(?:IB|RDMA|RoCE|NVLink|GDR)|走的?是.{0,4}(?:socket|tcp|以太网)",
    ),
    (
        "hangs",
        "卡住|卡死|卡在|挂起|挂住|挂死|hang|一直等|一直停|停在|停住|无响应|没有?(?:响应|反应)|不动|超时|ハング|固ま|止ま|멈[춤췄추춥]",
    ),
    ("hangs", "завис|виси|висне|застр|не отвеча"),
    (
        "slow",
        (
            r"(?:速度|训练|通信|传输|推理|收敛)(?:得|也|都|非常|特别|十分|比较|有点|好|真|极|过|这么|那么){0,2}慢(?!慢)"
            r"|很慢|太慢|变慢|慢了|还慢|更慢|比.{1,12}慢|慢.{0,2}倍|(?:带宽|吞吐|效率|加速比).{0,2}(?:很|太|较|偏|比较)?低(?!延[迟时]|时延|开销|成本|功耗)"
            r"|(?:速度|带宽|吞吐|性能).{0,3}(?:只有|下降|上不去|[跑打]不[满上])|低于(?:预期|期望|理论)"
            r"|(?:只有|只能跑到?|仅)\s?\d[\d.]*\s?[GMgm]i?[Bb](?:/s|ps|it)"
        ),
    ),
    ("slow", "遅い|遅く|느리|느려|медленн|тормоз"),
    (
        "fails",
        (
            "报错|失败|错误|崩溃|被杀|闪退|(?:自动|直接|突然|一直|频繁)(?:重启|关机|断电)|被(?:系统)? ?kill"
            "|无法|不能(?:跑|用|运行|训练|启动|连|通信|正常)|不行|跑不|起不来|不了"
            "|エラー|失敗|できな|できませ|오류|실패"
        ),
    ),
    ("fails", "ошибк|падает|упал|не работает|не запуска"),
)


def of(words: Iterable[str]) -> Language | None:
    """The language of a sentence in Latin letters by its small words; None for English and where too few tell."""
    said = set(words)
    letters = set("".join(said))

    def clues(language: Language) -> int:
        return len(language.small & said) + (not letters.isdisjoint(language.letters))

    best = max(_LANGUAGES, key=clues)
    return best if best.small & said and clues(best) >= _ENOUGH else None


def complaint(text: str) -> str | None:
    """What kind of trouble a sentence in another language complains of; None for none."""
    if SCRIPT.search(text):
        return next((what for what, pattern in _SCRIPTS if re.search(pattern, text, re.IGNORECASE)), None)
    language = of(re.findall(r"[^\W\d_][^\W\d_'\u2019]*", text.lower()))
    patterns = language.complaints if language is not None else ()
    found = (what for what, each in patterns if re.search(rf"(?<!\w)(?:{each})(?!\w)", text, re.IGNORECASE))
    return next(found, None)
