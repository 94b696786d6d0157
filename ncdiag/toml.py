"""The reader of TOML: the standard library's, or the package that it came from where Python is older than that.

Imported only where definitions are read, never on the way from a log to a report.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["TOMLDecodeError", "loads"]
