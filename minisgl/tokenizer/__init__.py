"""Text to token ids and token ids to text, and the process around both."""

from .byte_detokenize import ByteDetokenizeManager, ByteStatus, make_detokenize_manager
from .detokenize import DecodeStatus, DetokenizeManager, find_printable_text
from .launch import TokenizerProcesses, launch
from .manager import BaseDetokenizeManager
from .server import tokenize_worker
from .stop import StopChecker, StopStrings
from .token_bytes import TokenBytes, token_bytes
from .tokenize import PromptError, TokenizeManager

__all__ = [
    "BaseDetokenizeManager",
    "ByteDetokenizeManager",
    "ByteStatus",
    "DecodeStatus",
    "DetokenizeManager",
    "PromptError",
    "StopChecker",
    "StopStrings",
    "TokenBytes",
    "TokenizeManager",
    "TokenizerProcesses",
    "find_printable_text",
    "launch",
    "make_detokenize_manager",
    "token_bytes",
    "tokenize_worker",
]
