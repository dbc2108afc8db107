"""Webhook calls that are signed like those of the service."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional


@dataclass(frozen=True)
class SignedCall:
    """A webhook call as it arrives: `handler.handle(call.raw_body, call.headers)`."""

    raw_body: bytes
    headers: Dict[str, str]


def signed_call(
    event: Mapping[str, Any],
    secret: str,
    *,
    next_secret: Optional[str] = None,
    id: Optional[str] = None,
    sent_at: Optional[float] = None,
) -> SignedCall:
    """Makes a call like the ones of the service. `next_secret` is that of a rotation, `sent_at` a Unix time in seconds."""
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    id = id or str(uuid.uuid4())
    timestamp = str(int(time.time() if sent_at is None else sent_at))
    secrets = [secret] if next_secret is None else [secret, next_secret]
    headers = {
        "content-type": "application/json",
        "x-gdpr-event": str(event["event"]),
        "x-gdpr-signature": _whole(secret, body),
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_standard(one, f"{id}.{timestamp}.".encode() + body) for one in secrets),
    }
    if next_secret is not None:
        headers["x-gdpr-signature-next"] = _whole(next_secret, body)
    return SignedCall(body, headers)


def _whole(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _standard(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret[len("whsec_") :])
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
