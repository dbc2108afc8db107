"""Where users reach the service."""

from __future__ import annotations

import re
from typing import Optional
from urllib.parse import urlsplit

#: Addresses of the machine itself, on which the service listens without `PUBLIC_URL`, and names without a dot.
_LOCAL = re.compile(r"127\.|::|[^.:]*$")
_ORIGIN = re.compile(r"https?://[^/?#@\s]+/?", re.IGNORECASE)


def is_local(url: str) -> bool:
    """Whether users do not reach an address. Discord refuses every message with a button to a name without a dot."""
    return _LOCAL.match(urlsplit(url).hostname or "") is not None


def verify_url_of(public_url: Optional[str]) -> Optional[str]:
    """The page that checks files; None where users do not reach it. Raises ValueError for what is no origin."""
    if public_url is None:
        return None
    if not _is_origin(public_url):
        raise ValueError(f"public_url must be PUBLIC_URL of the service, like https://gdpr.example.org, not {public_url!r}.")
    return None if is_local(public_url) else f"{public_url.rstrip('/')}/verify"


def _is_origin(url: str) -> bool:
    try:
        # An impossible port is found when it is read.
        return _ORIGIN.fullmatch(url) is not None and urlsplit(url).port != 0
    except ValueError:
        return False
