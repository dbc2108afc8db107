"""Messages as Discord's interface takes them, within its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, List, Optional, Tuple

Json = Dict[str, Any]

# The limits of Discord, in UTF-16 units: at least as narrow as where Discord counts characters.
CONTENT_MAX = 2000
EMBED_MAX = 4096
TITLE_MAX = 256
LABEL_MAX = 100
BUTTON_MAX = 80
OPTIONS_MAX = 25
ROWS_MAX = 5

_STYLES = {"primary": 1, "secondary": 2, "success": 3, "danger": 4}


@dataclass
class Reply:
    """A message for the acting user alone, and its files."""

    content: str = ""
    embeds: List[Json] = field(default_factory=list)
    components: List[Json] = field(default_factory=list)
    files: List[Tuple[str, bytes]] = field(default_factory=list)
    #: The failure of a press: the message that was pressed keeps its embeds and components, and gets this content.
    is_note: bool = False
    #: Whether the message that was pressed keeps its files, as a note does: salts are answered once.
    keeps_files: bool = False
    #: What follows once the message is sent: the command that has waited for the consent. It raises nothing.
    following: Optional[Callable[[], Awaitable[Optional[Reply]]]] = None


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def head(text: str, most: int) -> str:
    """The longest beginning of at most `most` units. It ends inside no character."""
    return text.encode("utf-16-le")[: 2 * most].decode("utf-16-le", "ignore")


def cut(text: str, most: int) -> str:
    """A text of at most `most` units, with a mark where something is left out."""
    return text if units(text) <= most else f"{head(text, most - 1)}…"


def button(style: str, label: str, custom_id: str, disabled: bool = False) -> Json:
    shown = {"type": 2, "style": _STYLES[style], "label": cut(label, BUTTON_MAX), "custom_id": custom_id}
    return {**shown, "disabled": True} if disabled else shown


def link_button(label: str, url: str) -> Json:
    """A button that opens an address. Discord tells the bot nothing of a press."""
    return {"type": 2, "style": 5, "label": cut(label, BUTTON_MAX), "url": url}


def select(custom_id: str, placeholder: str, options: List[Json], least: int) -> Json:
    return {
        "type": 3,
        "custom_id": custom_id,
        "placeholder": cut(placeholder, LABEL_MAX),
        "min_values": least,
        "max_values": len(options),
        "options": options,
    }


def row(*components: Json) -> Json:
    return {"type": 1, "components": list(components)}


def pages_of(text: str) -> List[str]:
    """Splits a text into pages of an embed: at the ends of lines, at blanks where a line is longer. Nothing is left out."""
    pages: List[str] = []
    rest = text
    while units(rest) > EMBED_MAX:
        part = head(rest, EMBED_MAX)
        half = units(part) / 2
        ends = (part.rfind("\n") + 1, part.rfind(" ") + 1)
        end = next((at for at in ends if units(part[:at]) > half), len(part))
        pages.append(part[:end])
        rest = rest[end:]
    # An embed without a visible character is refused.
    return [page for page in [*pages, rest] if page.strip() != ""]
