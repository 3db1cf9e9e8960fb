"""No token of an address survives `redact`, wherever in a text the address stands."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from countback.fetch.release import redact
from hypothesis import given
from hypothesis import strategies as st

SECRET = st.text("0123456789abcdefXYZ-_~.", min_size=8, max_size=40).filter(lambda text: text not in "REDACTED")
NAMES = ["view_only", "token", "access_token", "X-Amz-Signature", "sig", "apikey", "api_key", "key", "PASSWORD", "auth"]
FRAMES = ["{}", "see {} for more", "GET {}: 404", "({})", "'{}'", '"{}"', "<{}>", "found {}, expected another"]


@given(SECRET, st.sampled_from(NAMES), st.sampled_from(FRAMES), st.booleans(), st.sampled_from("?#"))
def test_a_parameter(secret: str, name: str, frame: str, last: bool, mark: str) -> None:
    query = f"a=1&{name}={secret}" if last else f"{name}={secret}&a=1"
    text = frame.format(f"https://osf.io/download/9ez2n/{mark}{query}")
    shown = redact(text)
    assert secret not in shown
    assert "https://osf.io/download/9ez2n/" in shown
    assert "a=1" in shown
    assert redact(shown) == shown


@given(SECRET, st.sampled_from(NAMES), st.integers(1, 2))
def test_a_parameter_of_an_address_in_an_address(secret: str, name: str, depth: int) -> None:
    inner = f"https://osf.io/9ez2n/?{name}={secret}&a=1"
    for _ in range(depth):
        inner = quote(inner, safe="")
    shown = redact(f"https://accounts.osf.io/login?service={inner}&locale=en")
    assert secret not in shown
    assert shown.endswith("&locale=en")


@given(SECRET, SECRET)
def test_user_and_password(user: str, secret: str) -> None:
    shown = redact(f"cannot open https://{user}:{secret}@host.example/path?q=1 today")
    assert shown == "cannot open https://REDACTED@host.example/path?q=1 today"


@pytest.mark.parametrize(
    "text",
    [
        "https://arxiv.org/pdf/2610.02622v1",
        "https://example.org/?page=2&size=10#part",
        "expected sha256 abc, found a token of another kind",
        "write to someone@example.org",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
