"""One page of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Generic, List, TypeVar

from .types import Pagination, WalkPagination

T = TypeVar("T")

if TYPE_CHECKING:
    # Type checkers have this module with them. When the client runs, it is not needed.
    from typing_extensions import TypedDict

    class Page(TypedDict, Generic[T]):
        items: List[T]
        pagination: Pagination

    class WalkPage(TypedDict, Generic[T]):
        items: List[T]
        pagination: WalkPagination

else:

    class Page(Dict[str, Any], Generic[T]):
        """`items`, and `pagination` as the service answers it."""

    class WalkPage(Dict[str, Any], Generic[T]):
        """`items`, and `pagination` as the service answers it: without totals."""
