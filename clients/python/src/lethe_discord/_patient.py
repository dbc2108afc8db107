"""How long a call for a user takes."""

from lethe_client import CallOptions

#: The interaction is deferred: the call waits for the limiter of the service, which begins anew each minute.
PATIENT = CallOptions(timeout=90.0)
