"""What both detokenizers share: which requests run, how each ends, and what the reply says.

How tokens become text is left to the subclass: windows (`detokenize.py`) or bytes
(`byte_detokenize.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from ..core import SamplingParams
from ..message import DetokenizeMsg, UserReply
from ..utils import eos_token_ids as known_eos_token_ids
from ..utils import init_logger
from .stop import StopChecker, StopStrings

S = TypeVar("S")

MAX_STATES = 1 << 16
"""Requests that may run at once by default, as in SGLang 0.5's detokenizer_manager.py."""

ENDED_REMEMBERED = 1 << 16
"""Of so many ended requests the uid is kept, so that a late token brings no state back."""

logger = init_logger(__name__)


@dataclass(slots=True)
class ReplyOptions:
    """What a request asks beyond plain text: stop strings, EOS as text."""

    stop: StopChecker | None = None
    ignore_eos: bool = False


@lru_cache(maxsize=256)
def _stop_strings(stops: tuple[str, ...]) -> StopStrings:
    return StopStrings(list(stops))


def reply_options(
    stop: str | Sequence[str] | None, include_stop: bool, ignore_eos: bool
) -> ReplyOptions | None:
    """The options, or None where nothing special is asked for.

    Raises:
        ValueError: a stop string that can't be.
    """
    if stop is None and not ignore_eos:
        return None
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    checker = StopChecker(_stop_strings(stops), include_stop) if stops else None
    return ReplyOptions(checker, ignore_eos)


class BaseDetokenizeManager(ABC, Generic[S]):
    """The requests of one detokenizer, from their first token to their end.

    Args:
        tokenizer: of transformers, or of tokenizers.
        eos_token_ids: all ids that end a reply; by default what the tokenizer and the
            ``generation_config.json`` beside it name.
        skip_special_tokens: special tokens within a reply are left out of its text.
        max_states: so many requests at the most; beyond it the oldest ends with an error reply.
        finish_reasons: put `finish_reason` on every last reply. Without it only where a request
            asked for something that mini-sglang doesn't know, so that its API server understands
            the rest.

    Attributes:
        decode_map: uid → state of each request that has had a token and hasn't ended.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        eos_token_ids: Collection[int] | None = None,
        skip_special_tokens: bool = False,
        max_states: int = MAX_STATES,
        finish_reasons: bool = True,
    ) -> None:
        if max_states < 1:
            raise ValueError(f"max_states must be at least 1, got {max_states}")
        self.tokenizer = tokenizer
        if eos_token_ids is None:
            eos_token_ids = known_eos_token_ids(tokenizer)
        self.eos_token_ids = frozenset(eos_token_ids)
        self.skip_special_tokens = skip_special_tokens
        self.max_states = max_states
        self.finish_reasons = finish_reasons
        self.decode_map: dict[int, S] = {}
        self._options: dict[int, ReplyOptions] = {}  # of running requests that have any
        self._waiting: dict[int, ReplyOptions | None] = {}  # registered, no token yet
        self._ended: dict[int, None] = {}
        self._aborts: deque[int] = deque(maxlen=ENDED_REMEMBERED)
        self._seen_token = False

    # What a subclass provides.

    @abstractmethod
    def _new_state(self) -> S:
        """The state of a request before its first token."""

    @abstractmethod
    def _knows(self, token: int) -> bool:
        """Whether the id is in the vocabulary."""

    @abstractmethod
    def _decode(self, states: list[S], tokens: list[int | None], last: list[bool]) -> list[str]:
        """New text of each state after its token (None: no token); `last`: hold nothing back."""

    # What a scheduler and an API server ask for.

    def detokenize(self, msgs: Sequence[DetokenizeMsg]) -> list[str]:
        """The new text that each message brings, in the order of the messages.

        As in the seed: "" where nothing can be shown yet, and for a token of an ended request.
        """
        replies = self._step(msgs)
        self._log_evicted()
        return [reply.incremental_output if reply else "" for reply in replies]

    def process(self, msgs: Sequence[DetokenizeMsg]) -> list[UserReply]:
        """The replies to send: one a message, none for a late token, one for each evicted uid."""
        replies = [reply for reply in self._step(msgs) if reply is not None]
        return replies + self._evict()

    def register(self, uid: int, sampling_params: SamplingParams) -> None:
        """Says before its first token what a request asks for.

        Raises:
            ValueError: the uid is still running, or a stop string can't be.
        """
        if uid in self.decode_map or uid in self._waiting:
            raise ValueError(f"uid {uid} is still running: wait for its end or take another uid")
        self._waiting[uid] = reply_options(
            sampling_params.stop,
            sampling_params.include_stop_str_in_output,
            sampling_params.ignore_eos,
        )
        self._ended.pop(uid, None)
        if len(self._waiting) > self.max_states and not self._seen_token:
            # A process that only tokenizes: another one detokenizes, and nothing waits here.
            del self._waiting[next(iter(self._waiting))]

    def abort(self, uid: int) -> UserReply | None:
        """Ends a request without more text; tokens of it that still come give nothing.

        Returns:
            Its last reply, or None where the uid wasn't running.
        """
        running = uid in self.decode_map or uid in self._waiting
        self._end(uid)
        return self._last_reply(uid, "", "abort", asked=True) if running else None

    def take_aborts(self) -> list[int]:
        """The uids that ended here before the scheduler ended them: it is to be told, once."""
        aborts = list(self._aborts)
        self._aborts.clear()
        return aborts

    # How a message goes its way.

    def _step(self, msgs: Sequence[DetokenizeMsg]) -> list[UserReply | None]:
        """A reply for each message. Messages of one uid go in rounds, one of each uid a round."""
        self._seen_token = True
        replies: list[UserReply | None] = [None] * len(msgs)
        places = list(range(len(msgs)))
        while places:
            first: dict[int, int] = {}  # uid → its first message of those that are left
            later = [place for place in places if first.setdefault(msgs[place].uid, place) != place]
            self._round(msgs, list(first.values()), replies)
            places = later
        return replies

    def _round(
        self, msgs: Sequence[DetokenizeMsg], places: list[int], replies: list[UserReply | None]
    ) -> None:
        ready: list[int] = []
        for place in places:
            msg = msgs[place]
            try:
                if self._admit(msg):
                    ready.append(place)
            except ValueError as error:
                replies[place] = self._fail(msg, error)
        states = [self.decode_map[msgs[place].uid] for place in ready]
        tokens = [self._token_of(msgs[place]) for place in ready]
        last = [msgs[place].finished for place in ready]
        texts = self._decode_safely(states, tokens, last)
        for place, text in zip(ready, texts, strict=True):
            msg = msgs[place]
            if isinstance(text, str):
                replies[place] = self._reply(msg, text)
            else:
                replies[place] = self._fail(msg, text)

    def _admit(self, msg: DetokenizeMsg) -> bool:
        """Makes sure that the request has a state; False where it has ended.

        Raises:
            ValueError: a token that isn't in the vocabulary, or a bad stop string.
        """
        if msg.uid in self._ended:
            return False
        if msg.uid not in self.decode_map:
            if msg.uid in self._waiting:
                options = self._waiting.pop(msg.uid)
            else:
                options = reply_options(msg.stop, msg.include_stop_str_in_output, msg.ignore_eos)
            if options is not None:
                self._options[msg.uid] = options
            self.decode_map[msg.uid] = self._new_state()
        if not self._knows(msg.next_token):
            raise ValueError(f"token id {msg.next_token} is not in the vocabulary")
        return True

    def _token_of(self, msg: DetokenizeMsg) -> int | None:
        return None if self._ends_with_eos(msg) else msg.next_token

    def _ends_with_eos(self, msg: DetokenizeMsg) -> bool:
        if not msg.finished or msg.next_token not in self.eos_token_ids:
            return False
        options = self._options.get(msg.uid)
        return options is None or not options.ignore_eos

    def _decode_safely(
        self, states: list[S], tokens: list[int | None], last: list[bool]
    ) -> list[str | Exception]:
        """`_decode`, and where that raises, one by one: only the request at fault has an error."""
        if not states:
            return []
        try:
            return list(self._decode(states, tokens, last))
        except Exception as error:  # a tokenizer written in Python may raise anything
            if len(states) == 1:
                return [error]
        singles = zip(states, tokens, last, strict=True)
        return [self._decode_safely([state], [token], [end])[0] for state, token, end in singles]

    def _reply(self, msg: DetokenizeMsg, text: str) -> UserReply:
        """The reply to a message whose token became `text`."""
        options = self._options.get(msg.uid)
        if options is not None and options.stop is not None:
            text = options.stop.feed(text)
            if msg.finished:
                text += options.stop.finish()
            if options.stop.hit:
                return self._end_early(msg, text, "stop")
        if not msg.finished:
            return UserReply(msg.uid, text, False)
        reason = "stop" if self._ends_with_eos(msg) else "length"
        self._end(msg.uid)
        return self._last_reply(msg.uid, text, reason, asked=options is not None)

    def _fail(self, msg: DetokenizeMsg, error: Exception) -> UserReply:
        """Ends a request with an error; the text that it still held is shown."""
        text = self._rest(msg.uid)
        logger.warning("uid %d ends with an error: %s", msg.uid, error)
        return self._end_early(msg, text, "error", str(error) or type(error).__name__)

    def _end_early(
        self, msg: DetokenizeMsg, text: str, reason: str, error: str | None = None
    ) -> UserReply:
        self._end(msg.uid)
        if not msg.finished:
            self._aborts.append(msg.uid)
        return self._last_reply(msg.uid, text, reason, error, asked=True)

    def _last_reply(
        self, uid: int, text: str, reason: str, error: str | None = None, *, asked: bool
    ) -> UserReply:
        told = reason if self.finish_reasons or asked else None
        return UserReply(uid, text, True, told, error)

    def _rest(self, uid: int) -> str:
        """All text of a request that is decoded or held and not shown yet."""
        state = self.decode_map.get(uid)
        if state is None:
            return ""
        text = self._decode_safely([state], [None], [True])[0]
        rest = text if isinstance(text, str) else ""
        options = self._options.get(uid)
        if options is not None and options.stop is not None:
            rest = options.stop.feed(rest) + options.stop.finish()
        return rest

    def _end(self, uid: int) -> None:
        self.decode_map.pop(uid, None)
        self._waiting.pop(uid, None)
        self._options.pop(uid, None)
        self._ended[uid] = None
        while len(self._ended) > ENDED_REMEMBERED:
            del self._ended[next(iter(self._ended))]

    def _log_evicted(self) -> None:
        for evicted in self._evict():
            logger.warning("uid %d: %s", evicted.uid, evicted.error)

    def _evict(self) -> list[UserReply]:
        """Ends the oldest requests beyond `max_states`, with what they still held."""
        replies: list[UserReply] = []
        for requests in (self.decode_map, self._waiting):
            while len(requests) > self.max_states:
                uid = next(iter(requests))
                text = self._rest(uid)
                self._end(uid)
                self._aborts.append(uid)
                error = f"more than {self.max_states} requests at once: this oldest one was ended"
                replies.append(self._last_reply(uid, text, "error", error, asked=True))
        return replies
