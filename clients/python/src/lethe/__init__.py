"""Client for Lethe, a self-hosted GDPR service for bots."""

from ._async import AsyncLethe, AsyncPages
from ._core import CallOptions, Id
from ._sync import Lethe, Pages
from .errors import (
    ConflictError,
    ConsentRequiredError,
    InsufficientScopeError,
    InvalidRequestError,
    LetheError,
    LetheTimeoutError,
    NetworkError,
    NotFoundError,
    RateLimitedError,
    SuspendedError,
    UnauthorizedError,
    UnavailableError,
)
from .webhooks import Webhook, WebhookHandler, WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncLethe",
    "AsyncPages",
    "CallOptions",
    "ConflictError",
    "ConsentRequiredError",
    "Id",
    "InsufficientScopeError",
    "InvalidRequestError",
    "Lethe",
    "LetheError",
    "LetheTimeoutError",
    "NetworkError",
    "NotFoundError",
    "Pages",
    "RateLimitedError",
    "SuspendedError",
    "UnauthorizedError",
    "UnavailableError",
    "Webhook",
    "WebhookHandler",
    "WebhookVerificationError",
    "verify_webhook",
]
