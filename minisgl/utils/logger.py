"""One line a record on standard error: time, process, level, message."""

from __future__ import annotations

import logging
import os
import sys

LEVEL_VARIABLE = "MINISGL_LOG_LEVEL"


def init_logger(name: str, suffix: str = "") -> logging.Logger:
    """The logger `name`, set up once.

    Args:
        name: mostly ``__name__``.
        suffix: which process this is, as in ``tokenizer_0``; shown in each line.

    The environment variable ``MINISGL_LOG_LEVEL`` sets the level (default INFO).
    """
    logger = logging.getLogger(f"{name}.{suffix}" if suffix else name)
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        place = f"{suffix} " if suffix else ""
        handler.setFormatter(
            logging.Formatter(f"[%(asctime)s {place}%(levelname)s] %(message)s", "%H:%M:%S")
        )
        logger.addHandler(handler)
        logger.propagate = False
        level = os.environ.get(LEVEL_VARIABLE, "INFO").upper()
        logger.setLevel(level if level in logging.getLevelNamesMapping() else "INFO")
    return logger
