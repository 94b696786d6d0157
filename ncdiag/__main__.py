"""``python -m ncdiag``."""

from __future__ import annotations

import sys

from ncdiag.cli import main

sys.exit(main())
