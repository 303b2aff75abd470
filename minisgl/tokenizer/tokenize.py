"""Prompts to token ids: plain text, or a conversation through the model's chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..message import TokenizeMsg, UserMsg, UserReply
from ..utils import init_logger
from .segments import SegmentEncoder

if TYPE_CHECKING:
    import torch

logger = init_logger(__name__)


class PromptError(ValueError):
    """A prompt that can't become token ids; says why."""


class TokenizeManager:
    """Turns prompts into int32 tensors of token ids.

    A conversation is rendered by the chat template with the generation prompt, and encoded without
    more special tokens, since the template has written them already (no double BOS; sglang PR#888,
    vllm#9519). A plain prompt gets what the tokenizer adds by default.

    Args:
        tokenizer: of transformers.
        split_special_tokens: the text of special tokens in what users wrote stays plain text, so no
            user can forge a turn (transformers#47822); those of the template stay special tokens.
    """

    def __init__(self, tokenizer: Any, *, split_special_tokens: bool = False) -> None:
        self.tokenizer = tokenizer
        self.split_special_tokens = split_special_tokens
        self._segments = SegmentEncoder(tokenizer) if split_special_tokens else None
        self._warn_of_deaf_template()

    def tokenize(self, msgs: Sequence[TokenizeMsg]) -> list[torch.Tensor]:
        """The token ids of each prompt: 1-D int32 tensors on the CPU, in the order of `msgs`.

        Raises:
            PromptError: for the first prompt that can't be encoded. `process` goes on instead.
        """
        results = self._encode(msgs)
        for result in results:
            if isinstance(result, PromptError):
                raise result
        return [_int32(ids) for ids in results if not isinstance(ids, PromptError)]

    def process(self, msgs: Sequence[TokenizeMsg]) -> list[UserMsg | UserReply]:
        """For each prompt a `UserMsg` to the scheduler, or a `UserReply` with what is wrong."""
        out: list[UserMsg | UserReply] = []
        for msg, ids in zip(msgs, self._encode(msgs), strict=True):
            if isinstance(ids, PromptError):
                logger.warning("uid %d ends with an error: %s", msg.uid, ids)
                out.append(UserReply(msg.uid, "", True, "error", str(ids)))
            else:
                out.append(UserMsg(msg.uid, _int32(ids), msg.sampling_params))
        return out

    def render(self, messages: list[dict[str, Any]]) -> str:
        """The conversation as the model's chat template writes it, with the generation prompt.

        Raises:
            PromptError: no messages, no content, content that isn't text, or the template refuses.
        """
        return self._apply_template(plain_messages(messages))

    def _apply_template(self, messages: list[dict[str, Any]]) -> str:
        if not getattr(self.tokenizer, "chat_template", None):
            raise PromptError("this model has no chat template: send the prompt as plain text")
        try:
            text: str = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # a template may raise anything on what a user wrote
            raise PromptError(f"the chat template refuses these messages: {error}") from error
        return text

    def _encode(self, msgs: Sequence[TokenizeMsg]) -> list[list[int] | PromptError]:
        """The ids of each prompt or its error; one batch for plain prompts, one for chats."""
        results: list[list[int] | PromptError | None] = [None] * len(msgs)
        batches: dict[bool, dict[int, str]] = {False: {}, True: {}}  # is chat → place → text
        for place, msg in enumerate(msgs):
            try:
                is_chat = not isinstance(msg.text, str)
                if self._segments is not None:
                    results[place] = self._encode_split(msg)
                else:
                    text = self.render(msg.text) if not isinstance(msg.text, str) else msg.text
                    batches[is_chat][place] = _checked_text(text)
            except PromptError as error:
                results[place] = error
        for is_chat, texts in batches.items():
            encoded = self._encode_safely(list(texts.values()), add_special_tokens=not is_chat)
            for place, ids in zip(texts, encoded, strict=True):
                results[place] = ids
        return [_checked_ids(result) for result in results]

    def _encode_safely(
        self, texts: list[str], add_special_tokens: bool
    ) -> Sequence[list[int] | PromptError]:
        """`_encode_batch`, and where that raises, one by one: only the prompt at fault errs."""
        try:
            return self._encode_batch(texts, add_special_tokens)
        except Exception as error:  # whatever a tokenizer raises concerns one prompt
            if len(texts) == 1:
                return [PromptError(f"the tokenizer refuses this prompt: {error}")]
        return [self._encode_safely([text], add_special_tokens)[0] for text in texts]

    def _encode_batch(self, texts: list[str], add_special_tokens: bool) -> list[list[int]]:
        if not texts:
            return []
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:  # a tokenizer in pure Python
            encode = self.tokenizer.encode
            return [list(encode(text, add_special_tokens=add_special_tokens)) for text in texts]
        backend.no_padding()  # both stay on when somebody used the tokenizer with them before
        backend.no_truncation()
        encodings = backend.encode_batch_fast(texts, add_special_tokens=add_special_tokens)
        return [encoding.ids for encoding in encodings]

    def _encode_split(self, msg: TokenizeMsg) -> list[int]:
        assert self._segments is not None
        if isinstance(msg.text, str):
            return self._segments.encode_plain(_checked_text(msg.text))
        messages = plain_messages(msg.text)
        _checked_text("".join(message.get("content") or "" for message in messages))
        return self._segments.encode_chat(messages, self._apply_template)

    def _warn_of_deaf_template(self) -> None:
        if not getattr(self.tokenizer, "chat_template", None):
            return
        probe = [{"role": "user", "content": "x"}]
        try:
            texts = [
                self.tokenizer.apply_chat_template(probe, tokenize=False, add_generation_prompt=on)
                for on in (True, False)
            ]
        except Exception:  # it will be told, with the reason, to the request that it concerns
            return
        if texts[0] == texts[1]:
            logger.warning(
                "this chat template ignores add_generation_prompt: if its turns don't tell the "
                "model to answer, replies may go on in the user's voice"
            )


def plain_messages(messages: Any) -> list[dict[str, Any]]:
    """The messages with each content as one string; text parts are joined.

    Raises:
        PromptError: no messages, one without role or content, or a part that isn't text.
    """
    if not isinstance(messages, list) or not messages:
        raise PromptError("there are no messages: a conversation needs at least one")
    return [_plain_message(number, message) for number, message in enumerate(messages, 1)]


def _plain_message(number: int, message: Any) -> dict[str, Any]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise PromptError(f'message {number} has no "role": give "user", "assistant" or "system"')
    content = message.get("content")
    if isinstance(content, str) or (content is None and message.get("tool_calls")):
        return message
    if content is None:
        raise PromptError(f'message {number} has no "content": give it a text')
    if not isinstance(content, list):
        raise PromptError(f"the content of message {number} is neither text nor a list of parts")
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            raise PromptError(f"message {number} has a part of type {kind!r}: only text works here")
    return {**message, "content": "".join(part["text"] for part in content)}


def _checked_text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PromptError(
            f"character {error.start} is half a surrogate pair (U+{ord(text[error.start]):04X}), "
            f"which is no character: the text was cut within one"
        ) from error
    return text


def _checked_ids(result: list[int] | PromptError | None) -> list[int] | PromptError:
    if result is None or result == []:
        return PromptError("the prompt is empty: no token ids, and the scheduler can't run it")
    return result


def _int32(ids: list[int]) -> torch.Tensor:
    import torch  # here and not above: the detokenizers don't need it

    return torch.tensor(ids, dtype=torch.int32)
