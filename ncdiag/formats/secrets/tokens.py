"""Secrets that are recognised by their form, wherever they occur.

The prefixes are those that vendors publish for their tokens; the list follows the rules of gitleaks
(github.com/gitleaks/gitleaks, config/gitleaks.toml, MIT), rewritten as one expression with lengths that also match cut
and future tokens. Its rules that search for the name of a vendor near a value are not used: the module `names`
treats names of all vendors alike. Neither gitleaks (Go) nor detect-secrets (which tries dozens of patterns on each
line) could be used directly: a log must be redacted at the speed at which it is read.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.by_shape import blind

__all__ = ["SHAPES_OF_TOKENS", "TOKENS", "Span"]

Span = tuple[int, int]
"""Start and end of a secret in a line."""

_FORMS = r"""
    (?:A3T[A-Z\d]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z\d]{12,} ABSK[A-Za-z\d+/]{40,}={0,2}
    bedrock-api-key-[\w+/=-]{16,} AIza[\w-]{25,} ya29\.[\w.-]{16,} GOCSPX-[\w-]{16,} 1//0[\w-]{20,}
    LTAI[A-Za-z\d]{12,} AKID[A-Za-z\d]{20,} EAA[A-Za-z\d]{60,} AKCp[A-Za-z\d]{40,}
    (?:gh[opsur]|github_pat)_\w{16,} gl(?:pat|cbt|dt|ffct|ft|imt|agent|oas|ptt|rt|soat|rtr)-[\w.-]{16,}
    GR1348941[\w-]{16,} glc_[\w+/]{24,}={0,3} glsa_\w{24,} (?:hf|api_org)_[A-Za-z\d]{16,} nvapi-[\w-]{16,}
    npm_[A-Za-z\d]{24,} pypi-[\w-]{16,} dckr_(?:pat|oat)_[\w-]{16,} dapi[a-f\d]{24,}(?:-\d)? sk-[\w-]{16,}
    sk_[\w-]{16,} (?:pk|rk|whsec|sess|ak|as)_(?:test_|live_|prod_)?[A-Za-z\d]{20,} (?:ak|as)-[A-Za-z\d]{20,}
    pplx-[A-Za-z\d]{24,} gsk_[A-Za-z\d]{24,} xai-[A-Za-z\d]{24,} r8_[A-Za-z\d]{24,} rpa_[A-Za-z\d]{24,}
    key-[a-f\d]{32} fw_[A-Za-z\d]{20,} tgp_v\d_[\w-]{20,} lsv2_(?:pt|sk)_\w{20,} pcsk_\w{20,} co_[A-Za-z\d]{32,}
    xox[a-z](?:\.xox[a-z])?-[\w-]{10,} xapp-\d-[\w-]{10,} SG\.[\w-]{10,}\.[\w-]{10,} (?:SK|AC)[a-f\d]{32}
    \d{8,12}:AA[\w-]{30,} [MNO][A-Za-z\d_-]{22,27}\.[\w-]{5,8}\.[\w-]{25,} (?:hv[sbr]|b|s|r)\.[A-Za-z\d_-]{24,}
    [A-Za-z\d]{14}\.atlasv1\.[\w=-]{40,} dop_v1_[a-f\d]{40,} do[or]_v1_[a-f\d]{40,}
    dt0[a-z]\d\d\.[A-Z\d]{16,}\.[A-Z\d]{40,} dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{24,} EZ[AT]K[A-Za-z\d]{40,}
    HRKU-[\w-]{30,} (?:NRAK|NRII|NRJS|NRRA)-[A-Za-z\d-]{16,} ATATT3[\w=-]{40,} ATCTT3[\w=-]{40,} ATBB[\w=-]{24,}
    ntn_[A-Za-z\d]{32,} secret_[A-Za-z\d]{32,} lin_api_[A-Za-z\d]{24,} PMAK-[a-f\d-]{40,}
    pscale_(?:tkn|oauth|pw)_[\w.=-]{24,} pul-[a-f\d]{32,} pnu_[A-Za-z\d]{24,} rubygems_[a-f\d]{32,}
    sntry[su]_[\w+/=]{24,} sgp_\w{24,} shp(?:at|ca|pa|ss)_[a-fA-F\d]{24,} shippo_(?:live|test)_[a-f\d]{24,}
    sq0(?:atp|csp|idp)-[\w-]{20,} EAAA[\w-]{40,} xkeysib-[a-f\d]{32,}-\w{8,} fo1_[\w-]{30,}
    fm[12][ar]?_[\w+/=]{40,} ops_eyJ[\w+/=-]{40,} A3-[A-Z\d]{6}-[A-Z\d-]{20,} AGE-SECRET-KEY-1[A-Z\d]{40,}
    CLOJARS_\w{40,} tskey-[\w-]{16,} rdme_[a-z\d]{40,} API-[A-Z\d]{24,} CFPAT-[\w-]{24,} cmVmd[A-Za-z\d]{40,}
    [\w~.]{3}\dQ~[\w~.-]{28,} dnkey-[\w=-]{40,} duffel_(?:test|live)_[\w=-]{24,} FLW(?:SECK|PUBK)_TEST-[\w-]{12,}
    fio-u-[\w=-]{40,} sl\.[\w=-]{60,} phc_\w{30,} phx_\w{30,} figd_[\w-]{30,} dG9rZW4[\w+/=-]{24,} AQVN[\w-]{30,}
    YC[\w-]{38} y[0-3]_[\w-]{40,} sha256~[\w-]{30,} whsec_[\w+/=]{20,} v1\.0-[a-f\d]{24}-[a-f\d]{100,}
    patch?[A-Za-z\d]{14}\.[a-f\d]{40,} pat[A-Za-z\d]{14}\.[a-f\d]{40,} sm_[aps]at_\w{16,} tfp_[\w.=-]{40,}
    ddp_[A-Za-z\d]{30,} FwoGZXIvYXdz[\w/+=]{20,} IQoJb3JpZ2lu[\w/+=]{20,} PRIVATE-TOKEN-[\w-]{16,}
    nfp_[A-Za-z\d]{30,} vercel_\w{20,} eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?(?:\.[\w-]+){0,2} eyJ[\w+/-]{40,}={0,2}
    gAAAAA[\w-]{40,}={0,2} MUNGE:[\w+/=]{16,}:? k1:[\w+/=]{24,}
"""
"""One expression per form, separated by blanks."""
_CRYPT = (
    r"\$(?:1|2[abxy]?|5|6|7|8|9|y|gy|sha1|apr1|argon2(?:id?|d)|pbkdf2[\w-]*|scrypt)\$[\w./$=,+-]{6,300}"
    r"|\{S?(?:SHA|MD5|SSHA\d*|CRYPT|PBKDF2[\w-]*)\d*\}[\w+/=.$]{8,}"
)
_PATTERN = rf"(?P<crypt>{_CRYPT})|(?<![A-Za-z0-9])(?<![A-Za-z0-9][_-])(?P<token>{'|'.join(_FORMS.split())})".replace(
    ",}", ",4000}"
)
TOKENS = lazy_regex(_PATTERN)
"""A token of a vendor, a signed token, a hash of a password."""
SHAPES_OF_TOKENS = lazy_regex(blind(_PATTERN))
"""The same for a text whose digits are all replaced by 0."""
