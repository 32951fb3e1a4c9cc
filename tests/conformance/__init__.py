"""One class of tests per port: each test checks one obligation from the port's documentation in `core/ports/`.

An implementation inherits the class and sets its subject; `docs/your-own-domain.md` shows it for a domain.
"""

import pytest

for _port in ("domain", "environment", "method", "model", "pool", "renderer", "store"):
    pytest.register_assert_rewrite(f"{__name__}.{_port}")
