"""The Ed25519 key of a holder, and the JWS that it makes (RFC 7515, RFC 8037)."""

from __future__ import annotations

import base64
import json
from importlib import import_module
from typing import Any, Mapping


class Signer:
    """Raises ImportError without the package `cryptography`, and ValueError for what is no Ed25519 key; without its text."""

    def __init__(self, key: Any) -> None:
        try:
            serialization = import_module("cryptography.hazmat.primitives.serialization")
        except ImportError:
            raise ImportError(
                "private_key needs the package cryptography, since Python has no Ed25519 of its own: "
                'pip install "lethe-client[sign]"'
            ) from None
        try:
            if isinstance(key, (str, bytes)):
                pem = key.encode() if isinstance(key, str) else key
                key = serialization.load_pem_private_key(pem, None)
            if "Ed25519" not in type(key).__name__:
                raise ValueError
            encoding, shape = serialization.Encoding.Raw, serialization.PublicFormat.Raw
            #: As `public_key` of the holder: base64url of 32 bytes.
            self.public_key = base64url(key.public_key().public_bytes(encoding, shape))
        except Exception:
            raise ValueError("private_key must be an Ed25519 key in PEM (PKCS #8), or an Ed25519PrivateKey.") from None
        self._key = key

    def statement(self, payload: Mapping[str, Any]) -> str:
        head = {"alg": "EdDSA", "typ": "lethe-holder-answer+jwt"}
        signed = ".".join(base64url(compact(part).encode()) for part in (head, payload))
        return f"{signed}.{base64url(self._key.sign(signed.encode()))}"


def base64url(given: bytes) -> str:
    return base64.urlsafe_b64encode(given).rstrip(b"=").decode()


def compact(value: Any) -> str:
    """As JSON.stringify writes it. Raises ValueError for a number that JSON has not."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
