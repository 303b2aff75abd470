"""Browser tests are left out where there is no Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from .lab import CHROMIUM

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = pytest.mark.skip(reason=f"there is no Chromium at {CHROMIUM}")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not Path(CHROMIUM).exists():
                item.add_marker(missing)
