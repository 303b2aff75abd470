"""Notebooks are tested as they are shipped: with nothing solved, wherever the learner stands."""

from __future__ import annotations

import os
import tempfile

_workspace = tempfile.TemporaryDirectory()  # gone when pytest ends
os.environ["MINISGL_WORKSPACE"] = _workspace.name
