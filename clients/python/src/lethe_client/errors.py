"""The errors of a call. Every one is a LetheError."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Type


class LetheError(Exception):
    """Every failure of a call."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        details: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        remaining: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: The status of the answer; None where none came.
        self.status = status
        self.details: Dict[str, Any] = dict(details or {})
        #: The operator finds the request in the log of the service by it.
        self.request_id = request_id
        #: Seconds until the service wants the next request, where it says so.
        self.retry_after = retry_after
        #: How many requests the bot may still make in this minute, where the service says so.
        self.remaining = remaining

    @property
    def reason(self) -> Optional[str]:
        """Why the state refuses the request, of a conflict and of a refused processing."""
        return self.details.get("reason")

    @property
    def docs(self) -> Optional[str]:
        """Where the package explains this error and what to do."""
        if self.status is None or self.code == "unexpected_answer":
            return None
        # Only the reasons of a conflict have headings.
        reason = self.reason if self.code == "conflict" else None
        return f"lethe_client/errors.md#{reason or f'{self.status}-{self.code}'}"

    @property
    def fields(self) -> List[Dict[str, str]]:
        """Every bad field of an invalid request."""
        fields = self.details.get("fields")
        return list(fields) if isinstance(fields, list) else []


class InvalidRequestError(LetheError):
    """400: `fields` names every bad field."""


class UnauthorizedError(LetheError):
    """401: the key is missing, unknown, expired, or its bot is deleted."""


class ConsentRequiredError(LetheError):
    """403: the user has not consented, or not to this category."""

    @property
    def current_status(self) -> Optional[str]:
        return self.details.get("current_status")


class ProcessingRefusedError(LetheError):
    """403: the user has objected to the processing (GDPR Art. 21) or restricted it (Art. 18). Consent ends neither.

    `reason` is `objection`, which lasts until the user is erased or its category deleted, or
    `restriction`, until it is ended.
    """


class SuspendedError(LetheError):
    """403: the operator has suspended the bot."""


class InsufficientScopeError(LetheError):
    """403: the key lacks the scope `required`."""

    @property
    def required(self) -> str:
        return str(self.details.get("required"))


class NotFoundError(LetheError):
    """404: no such resource of this bot."""


class ConflictError(LetheError):
    """409: the state refuses the request; `reason` says why."""


class RateLimitedError(LetheError):
    """429: the limit of the bot is used up for `retry_after` seconds."""


class UnavailableError(LetheError):
    """503, or a proxy that does not reach the service."""


class NetworkError(LetheError):
    """No complete answer came. Whether the act was done is unknown."""

    #: True where the connection was never made, so that the act was not done.
    never_sent = False


class LetheTimeoutError(LetheError):
    """The time of the call was over. Whether the act was done is unknown."""


_CLASSES: Dict[str, Type[LetheError]] = {
    "invalid_request": InvalidRequestError,
    "unauthorized": UnauthorizedError,
    "consent_required": ConsentRequiredError,
    "processing_refused": ProcessingRefusedError,
    "suspended": SuspendedError,
    "insufficient_scope": InsufficientScopeError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "rate_limit_exceeded": RateLimitedError,
    "service_unavailable": UnavailableError,
}


def error_of(code: str, message: str, **known: Any) -> LetheError:
    """The error of a code, of the class that belongs to it."""
    return _CLASSES.get(code, LetheError)(message, code=code, **known)
