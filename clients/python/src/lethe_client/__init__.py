"""Client for Lethe, a self-hosted GDPR service for bots."""

from ._async import AsyncLethe
from ._async_caller import AsyncPages, AsyncWalk
from ._caller import Pages, Walk
from ._core import CallOptions
from ._sync import Lethe
from .errors import (
    ConflictError,
    ConsentRequiredError,
    InsufficientScopeError,
    InvalidRequestError,
    LetheError,
    LetheTimeoutError,
    NetworkError,
    NotFoundError,
    ProcessingRefusedError,
    RateLimitedError,
    SuspendedError,
    UnauthorizedError,
    UnavailableError,
)
from .types import Id, Subject
from .webhooks import Webhook, WebhookHandler, WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncLethe",
    "AsyncPages",
    "AsyncWalk",
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
    "ProcessingRefusedError",
    "RateLimitedError",
    "Subject",
    "SuspendedError",
    "UnauthorizedError",
    "UnavailableError",
    "Walk",
    "Webhook",
    "WebhookHandler",
    "WebhookVerificationError",
    "verify_webhook",
]
