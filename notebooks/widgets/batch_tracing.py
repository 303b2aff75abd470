"""Several replies side by side, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minisgl.message import DetokenizeMsg

from .calls import error_facts, running_uids, texts_of
from .state_reader import OFFSETS, StateReader
from .token_facts import ids_of, name_of, token_facts, tokenizer_of

Trace = dict[str, Any]

VERSION = 1


def batch_trace(
    manager: Any,
    requests: Mapping[int, str | Sequence[int]],
    *,
    tokenizer: Any = None,
    starts: Mapping[int, int] | None = None,
    name: str | None = None,
) -> Trace:
    """Feeds several replies side by side, one token of each a call, and writes down what happens.

    Args:
        manager: has ``detokenize`` and ``decode_map``.
        requests: uid → text or token ids. A reply ends with its last token.
        tokenizer: by default the manager's.
        starts: uid → the call in which its first token comes; 0 where it isn't given.
        name: whose run it is; by default the class's name.

    Returns:
        ``version``, ``name``, ``tokenizer``, ``requests`` (uid as text → its ``tokens`` as in
        `trace`), ``steps`` and ``error``. One step a call: ``uids`` in ``decode_map`` after it, and
        ``rows``, for each uid that had a token: ``token`` (its place), the three offsets after the
        call, ``sent``, ``output``, ``pending`` (how many tokens wait) and ``ended``.
    """
    tokenizer = tokenizer_of(manager, tokenizer)
    starts = starts or {}
    ids = {uid: ids_of(tokenizer, source) for uid, source in requests.items()}
    readers = {uid: StateReader(manager, uid) for uid in ids}
    outputs, error = dict.fromkeys(ids, ""), None
    steps: list[dict[str, Any]] = []
    for call in range(max((starts.get(uid, 0) + len(row) for uid, row in ids.items()), default=0)):
        places = {uid: call - starts.get(uid, 0) for uid in ids}
        msgs = [
            DetokenizeMsg(uid, ids[uid][place], place == len(ids[uid]) - 1)
            for uid, place in places.items()
            if 0 <= place < len(ids[uid])
        ]
        for reader in readers.values():
            reader.look()
        try:
            pieces = texts_of(manager.detokenize(msgs), len(msgs))
        except (Exception, SystemExit) as problem:
            message, line = error_facts(problem, manager)
            error = {"step": len(steps), "message": message, "line": line}
            break
        rows = {}
        for msg, piece in zip(msgs, pieces, strict=True):
            outputs[msg.uid] += piece
            state = readers[msg.uid].look()
            rows[str(msg.uid)] = {
                "token": places[msg.uid],
                **{offset: state[offset] for offset in OFFSETS},
                "sent": piece,
                "output": outputs[msg.uid],
                "ended": state["ended"],
            }
        steps.append({"uids": running_uids(manager), "rows": rows})
    return {
        "version": VERSION,
        "name": name or type(manager).__name__,
        "tokenizer": name_of(tokenizer),
        "requests": {
            str(uid): {"tokens": [token_facts(tokenizer, token) for token in row]}
            for uid, row in ids.items()
        },
        "steps": steps,
        "error": error,
    }
