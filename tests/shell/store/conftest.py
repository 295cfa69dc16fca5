import pytest

pytest.register_assert_rewrite("zidane_acp.store.contract")
