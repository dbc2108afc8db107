"""For the tests of a bot: the core of the service in memory, and calls that are signed like those of the service."""

from ._fake import FakeLethe
from ._signed import SignedCall, signed_call

__all__ = ["FakeLethe", "SignedCall", "signed_call"]
