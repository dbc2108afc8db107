"""Verifies webhook calls without a secret: the entry `v1a` of Standard Webhooks (Ed25519)."""

from __future__ import annotations

import base64
import re
from datetime import datetime
from importlib import import_module
from typing import Any, Awaitable, Callable, List, Mapping, Sequence, Tuple, Union

_Fixed = Union[str, Sequence[str], Mapping[str, Any]]
#: The answer of `/.well-known/lethe-webhook-keys/{bot_id}`, or a key of it as text, `whpk_…`; with several texts during a
#: rotation. A function is asked at each call, so it keeps what it has fetched. One that is async needs `handle_async`.
PublicKeys = Union[_Fixed, Callable[[], Union[_Fixed, Awaitable[_Fixed]]]]

#: A process signs with its copy of a key for up to 30 seconds after its retirement, and clocks differ by seconds.
_RETIRING_SECONDS = 60
#: The service sends one. A stranger can send many, and each one costs a verification.
_SIGNATURES_MAX = 4


class BadKeys(ValueError):
    """What was given is no key that verifies calls."""


def keys_of(given: Any) -> List[Tuple[Any, float]]:
    """Each key, and the last Unix time at which it may have signed.

    Raises BadKeys, and ImportError without the package `cryptography`.
    """
    if isinstance(given, Mapping):
        given = given.get("keys")
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, (list, tuple)) or not listed:
        raise BadKeys
    return [_of_text(key) if isinstance(key, str) else _of_set(key) for key in listed]


def is_signed_by(keys: Sequence[Tuple[Any, float]], content: bytes, entries: Sequence[str], timestamp: str) -> bool:
    """Whether one of the keys has made one of the entries `v1a` at this time, given in Unix seconds."""
    refused = import_module("cryptography.exceptions").InvalidSignature
    found = [re.fullmatch(r"v1a,([A-Za-z0-9+/]{86}==)", entry, re.ASCII) for entry in entries]
    signatures = [base64.b64decode(entry.group(1)) for entry in found if entry][:_SIGNATURES_MAX]
    # A time that cannot be read is not before the retirement.
    at = int(timestamp) if re.fullmatch(r"[0-9]{1,15}", timestamp) else float("inf")
    for key, until in keys:
        for signature in signatures if at <= until else []:
            try:
                key.verify(signature, content)
                return True
            except refused:
                pass
    return False


def _of_text(text: str) -> Tuple[Any, float]:
    try:
        ed25519 = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError:
        raise ImportError(
            "public_keys need the package cryptography, since Python has no Ed25519 of its own: "
            'pip install "lethe-client[sign]"'
        ) from None
    found = re.fullmatch(r"whpk_([A-Za-z0-9+/]{43}=)", text, re.ASCII)
    if found is None:
        raise BadKeys
    return ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(found.group(1))), float("inf")


def _of_set(jwk: Any) -> Tuple[Any, float]:
    if not isinstance(jwk, Mapping):
        raise BadKeys
    key, until = _of_text(str(jwk.get("webhook_key")))
    retired_at = jwk.get("retired_at")
    if retired_at is None:
        return key, until
    try:
        # Python 3.9 does not know the Z.
        moment = datetime.fromisoformat(re.sub("Z$", "+00:00", str(retired_at)))
    except ValueError:
        raise BadKeys from None
    return key, moment.timestamp() + _RETIRING_SECONDS
