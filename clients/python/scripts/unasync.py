"""Makes the synchronous client of the asynchronous one: python3 scripts/unasync.py [--check]."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src" / "lethe"
SOURCE, TARGET = HERE / "_async.py", HERE / "_sync.py"

#: In this order.
WORDS = [
    (r'"""The asynchronous client\. .*"""', '"""The synchronous client. It is made of `_async.py`: python3 scripts/unasync.py."""'),
    (r"import asyncio\n", ""),
    (r"asyncio\.sleep", "time.sleep"),
    (r"AsyncMany = .*", "Many = Iterable[T]"),
    (r"(?s)async def _async_items.*", ""),
    (r"_async_items\(items\)", "items"),
    (r"from typing import .*", "from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Type, TypeVar"),
    (r"`async for` reads", "`for` reads"),
    (r"\b(async|await) ", ""),
    (r"Awaitable\[(\w+)\]", r"\1"),
    (r"httpx\.AsyncClient", "httpx.Client"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"__aiter__", "__iter__"),
    (r"\b_Async(?=[A-Z])", "_"),
    (r"\b_async_", "_"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\n+$", "\n"),
]


def synchronous(text: str) -> str:
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return text


if __name__ == "__main__":
    made = synchronous(SOURCE.read_text())
    if "--check" not in sys.argv:
        TARGET.write_text(made)
    elif TARGET.read_text() != made:
        sys.exit("_sync.py is stale: python3 scripts/unasync.py")
