"""The parts of lethe_discord that need no Discord, each as in @lethe/discord."""

import pytest

from lethe_discord._public_url import verify_url_of


def test_the_page_that_checks_files_is_at_the_origin_of_the_service_where_users_reach_it() -> None:
    for origin in ("https://gdpr.bot.example", "http://gdpr.bot.example:3000/"):
        assert verify_url_of(origin) == f"{origin.rstrip('/')}/verify"
    for local in ("http://localhost:3000", "http://127.0.0.1", "http://[::1]:3000", "https://lethe"):
        assert verify_url_of(local) is None
    for wrong in ("gdpr.bot.example", "", "ftp://a.example", "https://a.example/b", "https://a.example:x"):
        with pytest.raises(ValueError, match="PUBLIC_URL of the service"):
            verify_url_of(wrong)
