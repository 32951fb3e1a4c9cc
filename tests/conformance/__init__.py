"""One class of tests per port: each test states one obligation of the port's prose in `core/ports/`.

An implementation inherits the class and says what it is; `docs/your-own-domain.md` shows it for a domain.
"""

import pytest

for _port in ("domain", "environment", "model", "pool", "renderer", "store"):
    pytest.register_assert_rewrite(f"{__name__}.{_port}")
