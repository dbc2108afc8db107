"""Makes the synchronous client of the asynchronous one: python3 scripts/unasync.py [--check]."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src" / "lethe_client"
#: What is asynchronous, and what is made of it.
FILES = {"_async.py": "_sync.py", "_async_caller.py": "_caller.py"}



def _without_async(found: "re.Match[str]") -> str:
    names = re.findall(r"\w+", found[0].split("import", 1)[1])
    kept = {re.sub("^Async", "", name) for name in names} - {"Awaitable"}
    return "from typing import " + ", ".join(sorted(kept))


#: In this order.
WORDS = [
    (r'"""(.*) asynchronous (.*)\. .* made of this file: (.*)"""', r'"""\1 synchronous \2. It is made of the asynchronous file: \3"""'),
    (r"import asyncio\n(import time\n)?", "import time\n"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"attempts\.within\((.*)\)\n", r"\1\n"),
    (r"(`timeout` is the seconds of a call .*\.) (`client` .*)", r"\1 Headers that arrive byte by byte can take\n    longer. \2"),
    (r"AsyncMany = .*", "Many = Iterable[T]"),
    (r"(?s)async def _async_items.*", ""),
    (r"_async_items\(items\)", "items"),
    (r"from typing import .*", _without_async),
    (r"AsyncItera(?=[bt])", "Itera"),
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
    for source, target in FILES.items():
        made = synchronous((HERE / source).read_text())
        if "--check" not in sys.argv:
            (HERE / target).write_text(made)
        elif (HERE / target).read_text() != made:
            sys.exit(f"{target} is stale: python3 scripts/unasync.py")
