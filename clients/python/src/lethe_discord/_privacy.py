"""The conversation, from what a user has done to the answer."""

from __future__ import annotations

import logging
import time
from typing import Awaitable, Callable, Dict, Optional, Sequence

from lethe_client import AsyncLethe, ProcessingRefusedError

from . import _custom_id as ids
from ._about import about, status
from ._consent import agree, choose, consent, decline
from ._facts import Facts
from ._page import page as own_page
from ._public_url import verify_url_of
from ._refusals import refusal_word, refusals
from ._refusing import choice, object_now, restrict, sure, unrestrict
from ._reply import Reply
from ._rights import erase, export, forget, revoke, withdraw
from ._turn import Asked, Turn, failure_word
from ._waiting import Then, Waiting
from ._words import TextTable, Words, checked

OnError = Callable[[BaseException], None]
_CONFIRM_SECONDS_MAX = 86_400
_log = logging.getLogger("lethe_discord")


def _logged(error: BaseException) -> None:
    _log.error("A failure in the conversation about privacy", exc_info=error)


class Privacy:
    """The conversation about privacy: from what a user has done to the answer that only this user sees."""

    def __init__(
        self,
        lethe: AsyncLethe,
        consent_version: Optional[str],
        categories: Optional[Sequence[str]],
        texts: Optional[TextTable],
        confirm_seconds: int,
        public_url: Optional[str],
        on_error: Optional[OnError],
        now: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(categories, str):
            raise TypeError("categories must be a list of keys, not a str.")
        # Discord keeps a button for as long as its message; a day is more than anyone hesitates.
        if not 1 <= confirm_seconds <= _CONFIRM_SECONDS_MAX:
            raise ValueError(f"confirm_seconds must be 1 to {_CONFIRM_SECONDS_MAX}, not {confirm_seconds}.")
        self.texts = checked(texts)
        self._lethe, self._facts = lethe, Facts(lethe, categories, self.report)
        self._consent_version, self._confirm_seconds, self._now = consent_version, confirm_seconds, now
        self._on_error = on_error or _logged
        self._waiting = Waiting(now)
        self._verify_url = verify_url_of(public_url)

    async def reply(self, asked: Asked) -> Reply:
        """The answer. A failure is reported and said in words; no LetheError leaves this method."""
        return await self._answered(asked, self._answer)

    async def ask(self, asked: Asked, then: Optional[Then]) -> Reply:
        """Asks the user for consent. `then` continues the command once the consent is recorded."""
        waits = self._waiting.add(asked.user_id, then)
        return await self._answered(asked, lambda turn: consent(turn, waits=waits))

    async def _answered(self, asked: Asked, answer: Callable[[Turn], Awaitable[Reply]]) -> Reply:
        words = Words(asked.locale, self.texts)
        shared = (self._consent_version, self._confirm_seconds, self._verify_url, self._now, self.report, self._waiting)
        try:
            return await answer(Turn(self._lethe, self._facts, words, asked, *shared))
        except Exception as error:
            self._facts.forget()
            self.report(error)
            return Reply(words.say(failure_word(error)))

    def failed(self, asked: Asked, error: Exception) -> Reply:
        """The answer to an act of a user that failed in the bot itself. The error is reported, but for ProcessingRefusedError: the
        user has decided so, and reads that."""
        if isinstance(error, ProcessingRefusedError):
            return Reply(Words(asked.locale, self.texts).say(refusal_word(error)))
        self.report(error)
        return Reply(Words(asked.locale, self.texts).say("failed"))

    def report(self, error: BaseException) -> None:
        """Hands a failure to `on_error`."""
        try:
            self._on_error(error)
        except Exception as second:
            # A log that fails does not fail the answer.
            _logged(second)

    async def _answer(self, turn: Turn) -> Reply:
        name = turn.asked.subcommand
        if name is None:
            return await self._pressed(turn)
        answers: Dict[str, Callable[[Turn], Awaitable[Reply]]] = {
            "consent": consent,
            "status": status,
            "page": own_page,
            "export": export,
            "revoke": revoke,
            "forget": forget,
            "object": refusals,
        }
        if name in answers:
            return await answers[name](turn)
        return await about(turn)

    async def _pressed(self, turn: Turn) -> Reply:
        act, parts = ids.parsed(turn.asked.custom_id) or ("", [])
        if act == ids.PAGE:
            view, page, mask, binding, waits = (*parts, "", "", "", "", "")[:5]
            if view == "consent":
                return await consent(turn, page, mask, binding, waits)
            at = ids.page_of(page)
            views = {"status": status, "refusals": refusals}
            return await views.get(view, about)(turn, at)
        if act == ids.CHOOSE:
            return await choose(turn, *parts)
        if act in (ids.AGREE, ids.AGREE_TO_CHOSEN):
            return await agree(turn, *parts)
        if act == ids.DECLINE:
            return await decline(turn)
        if act in (ids.WITHDRAW, ids.WITHDRAW_ALL):
            return await withdraw(turn, turn.asked.values if act == ids.WITHDRAW else None)
        refusing: Dict[str, Callable[..., Awaitable[Reply]]] = {
            ids.CHOICE: choice,
            ids.RESTRICT: restrict,
            ids.UNRESTRICT: unrestrict,
            ids.OBJECT: sure,
            ids.OBJECT_NOW: object_now,
            ids.FORGET: erase,
        }
        if act in refusing:
            return await refusing[act](turn, *parts)
        if act == ids.KEEP:
            # The other button may have answered in this message: its file stays.
            return Reply(turn.words.say("forget_kept"), keeps_files=True)
        return Reply(turn.words.say("outdated"))
