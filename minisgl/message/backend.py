"""Messages from the tokenizer process to the scheduler (the backend)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..core import SamplingParams
from .utils import Codec, WireError

if TYPE_CHECKING:
    import torch


class BaseBackendMsg(msgspec.Struct, tag_field="__type__", tag=True, omit_defaults=True):
    """Base of all that the scheduler receives."""

    def encoder(self) -> bytes:
        """This message as msgpack bytes; also ``BaseBackendMsg.encoder(msg)``."""
        return CODEC.encode(self)

    @staticmethod
    def decoder(raw: bytes) -> BaseBackendMsg:
        """The message in `raw`; raises `WireError` for anything else."""
        return CODEC.decode(raw)

    @staticmethod
    def decode_each(raw: bytes) -> list[BaseBackendMsg | WireError]:
        """The single messages in `raw`, with a `WireError` in the place of each bad one."""
        return CODEC.decode_each(raw)


class UserMsg(BaseBackendMsg, eq=False):
    """Tokenizer to scheduler: a request that is ready to run.

    Attributes:
        uid: the request's id.
        input_ids: the prompt's token ids, a 1-D int32 tensor on the CPU.
        sampling_params: as they came with the prompt.

    Raises:
        ValueError: `input_ids` isn't a 1-D tensor of integers.
    """

    uid: int
    input_ids: torch.Tensor
    sampling_params: SamplingParams

    def __post_init__(self) -> None:
        ids = self.input_ids
        if ids.dim() != 1 or ids.is_floating_point() or ids.dtype.itemsize < 2:
            raise ValueError(f"input_ids must be 1-D integers, got {ids.dim()}-D {ids.dtype}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserMsg):
            return NotImplemented
        same = (self.uid, self.sampling_params) == (other.uid, other.sampling_params)
        return same and self.input_ids.tolist() == other.input_ids.tolist()


class AbortBackendMsg(BaseBackendMsg):
    """Tokenizer to scheduler: stop generating for this uid."""

    uid: int


class ExitMsg(BaseBackendMsg):
    """To the scheduler: end."""


class BatchBackendMsg(BaseBackendMsg):
    """Several messages in one frame."""

    data: list[UserMsg | AbortBackendMsg | ExitMsg]


def _single() -> object:
    # msgspec looks the name `torch` up here when it first reads UserMsg's annotations; a process
    # that sends no tensors never pays the seconds that this import takes.
    global torch
    import torch

    return UserMsg | AbortBackendMsg | ExitMsg


CODEC = Codec(BaseBackendMsg, _single, BatchBackendMsg)
