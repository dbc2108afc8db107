"""Objections and restrictions (GDPR Art. 21 and 18): the fake answers as the service does."""

import uuid
from typing import Any, Dict, List, Tuple

import pytest
from conftest import BANS, PROFILE, Place, subject

from lethe_client import CallOptions, ConflictError, ConsentRequiredError, InsufficientScopeError, Lethe, LetheError, NotFoundError, ProcessingRefusedError, _core

STATISTICS = {**PROFILE, "key": "statistics", "legal_basis": "legitimate_interests"}
TASKS = {**PROFILE, "key": "tasks", "legal_basis": "public_task"}


@pytest.fixture
def who(lethe: Lethe) -> Dict[str, str]:
    """A user who has consented to everything, and has a value in each category."""
    found = subject()
    for category in (STATISTICS, TASKS):
        lethe.categories.register(**category)
    lethe.consents.request(**found, consent_version="1.0")
    lethe.consents.accept(**found, consent_version="1.0")
    for key in ("profile", "statistics", "tasks"):
        lethe.data.submit(**found, category=key, data={"nickname": "Robin"})
    return found


def refused(lethe: Lethe, who: Dict[str, str], category: str, data: Any = None) -> str:
    with pytest.raises(ProcessingRefusedError) as error:
        lethe.data.submit(**who, category=category, data={"nickname": "Kim"} if data is None else data)
    assert (error.value.status, error.value.code) == (403, "processing_refused")
    return str(error.value.reason)


def listed(view: Any) -> Tuple[List[Any], List[Any]]:
    objections, restrictions = ([one["category"] for one in view[name]] for name in ("objections", "restrictions"))
    return objections, restrictions


def test_a_registration_warns_where_values_need_a_consent_beside_another_legal_basis(lethe: Lethe) -> None:
    (warning,) = lethe.categories.register(**STATISTICS)["warnings"]
    assert warning == (
        "Values of this category need a consent, although its legal_basis is another one: "
        "where none is needed, say so by requires_consent: false with reason_de and reason_en"
    )
    assert "warnings" not in lethe.categories.get("statistics")
    for other in (BANS, {**PROFILE, "key": "plain"}):
        assert "warnings" not in lethe.categories.register(**other)


def test_an_objection_erases_its_category_and_refuses_what_comes(lethe: Lethe, who: Dict[str, str]) -> None:
    done = lethe.data.object(**who, category="statistics")
    assert {name: done[name] for name in who} == who and listed(done) == (["statistics"], [])
    assert lethe.data.object(**who, category="statistics") == done == lethe.data.refusals(**who)
    assert refused(lethe, who, "statistics") == "objection"
    assert [*lethe.data.values(**who)["values"]] == ["profile", "tasks"]
    lethe.data.submit(**who, category="tasks", data={})
    # Before the values are looked at, and after the consent.
    assert refused(lethe, who, "statistics", {"age": 1}) == "objection"
    lethe.consents.revoke(**who)
    with pytest.raises(ConsentRequiredError):
        lethe.data.submit(**who, category="statistics", data={})


def test_an_objection_without_a_category_is_about_those_that_can_be_objected_to(lethe: Lethe, who: Dict[str, str]) -> None:
    assert listed(lethe.data.object(**who)) == ([None], [])
    assert [*lethe.data.values(**who)["values"]] == ["profile"]
    assert [refused(lethe, who, key) for key in ("statistics", "tasks")] == ["objection"] * 2
    lethe.data.submit(**who, category="profile", data={})
    assert listed(lethe.data.object(**who, category="tasks")) == ([None, "tasks"], [])


def test_an_objection_to_another_legal_basis_is_a_conflict(lethe: Lethe, who: Dict[str, str]) -> None:
    with pytest.raises(ConflictError) as error:
        lethe.data.object(**who, category="profile")
    assert (error.value.reason, error.value.details["legal_basis"]) == ("not_objectable", "consent")
    for act in (lethe.data.object, lethe.data.restrict, lethe.data.unrestrict):
        with pytest.raises(NotFoundError):
            act(**who, category="nothing")
    assert listed(lethe.data.refusals(**who)) == ([], [])


def test_a_restriction_keeps_what_is_stored_and_refuses_to_change_and_read_it(lethe: Lethe, who: Dict[str, str]) -> None:
    done = lethe.data.restrict(**who, category="profile")
    assert listed(done) == ([], ["profile"]) and lethe.data.restrict(**who, category="profile") == done
    assert refused(lethe, who, "profile") == "restriction"
    with pytest.raises(ProcessingRefusedError) as error:
        lethe.data.values(**who, category="profile")
    assert error.value.reason == "restriction"
    assert [*lethe.data.values(**who)["values"]] == ["statistics", "tasks"]
    assert lethe.data.values_of_guild(guild_id=who["guild_id"], category="profile").to_list() == []
    assert lethe.data.export(**who)["data"]["profile"] == {"nickname": "Robin"}
    assert listed(lethe.data.unrestrict(**who, category="profile")) == ([], [])
    assert lethe.data.values(**who, category="profile")["values"]["profile"] == {"nickname": "Robin"}


def test_a_restriction_of_everything_stays_when_a_category_is_named(lethe: Lethe, who: Dict[str, str]) -> None:
    lethe.data.restrict(**who, category="tasks")
    lethe.data.restrict(**who)
    with pytest.raises(ProcessingRefusedError):
        lethe.data.values(**who)
    assert listed(lethe.data.unrestrict(**who, category="tasks")) == ([], [None])
    assert refused(lethe, who, "tasks") == "restriction"
    lethe.data.restrict(**who, category="tasks")
    assert listed(lethe.data.unrestrict(**who)) == ([], [])
    # An objection is said before a restriction: it has no end.
    lethe.data.restrict(**who)
    lethe.data.object(**who, category="tasks")
    assert refused(lethe, who, "tasks") == "objection"


def test_a_batch_refuses_the_item_alone(lethe: Lethe, who: Dict[str, str]) -> None:
    lethe.data.object(**who, category="statistics")
    items: List[Any] = [{**who, "category": key, "data": {}} for key in ("statistics", "tasks")]
    done = lethe.data.submit_many(items)
    found = [(one["ok"], None if one["ok"] else one["error"]["details"]) for one in done]
    assert found == [(False, {"reason": "objection"}), (True, None)]


def test_a_key_of_many_items_is_one_for_each_request() -> None:
    options = CallOptions(idempotency_key="import-1", retries=1)
    first = _core.options_of_part(options, 0, 100)
    # The client in TypeScript makes the same ones.
    assert first == CallOptions(idempotency_key="66681e6f7b3540fc6e8a7d38849db50e76a23e27060d0bc365fff9b94d355ce9", retries=1)
    assert _core.options_of_part(options, 100, 100) != first
    assert _core.options_of_part(None, 0, 100) is None


def test_many_items_are_stored_once_with_a_key(lethe: Lethe, who: Dict[str, str]) -> None:
    items: List[Any] = [{**who, "category": "tasks", "data": {}}] * 101
    options = CallOptions(idempotency_key=str(uuid.uuid4()))
    for _ in range(2):
        assert [one["ok"] for one in lethe.data.submit_many(items, options=options)] == [True] * 101


def test_an_erasure_removes_both(lethe: Lethe, who: Dict[str, str]) -> None:
    lethe.data.object(**who)
    lethe.data.restrict(**who)
    lethe.privacy.forget(**who)
    assert listed(lethe.data.refusals(**who)) == ([], [])


def test_an_erasure_everywhere_removes_both_also_where_nothing_else_is_held(lethe: Lethe, who: Dict[str, str]) -> None:
    alone = {**who, "guild_id": subject()["guild_id"]}
    for act in (lethe.data.object, lethe.data.restrict):
        act(**alone)
    done = lethe.privacy.forget_everywhere(user_id=who["user_id"])
    assert {one["guild_id"] for one in done["requests"]} == {who["guild_id"], alone["guild_id"]}
    assert listed(lethe.data.refusals(**alone)) == ([], [])


def test_each_act_is_an_audit_event_once(lethe: Lethe, who: Dict[str, str]) -> None:
    before = len(lethe.audit.events(**who).to_list())
    for _ in range(2):
        lethe.data.object(**who, category="tasks")
        lethe.data.object(**who)
        lethe.data.restrict(**who, category="profile")
    for _ in range(2):
        lethe.data.unrestrict(**who)
    events = lethe.audit.events(**who).to_list()[:-before]
    # The service says which key has acted.
    details = [{name: text for name, text in (one["details"] or {}).items() if name != "actor"} for one in events]
    assert [*reversed([*zip([one["event_type"] for one in events], details)])] == [
        ("data_deleted", {"act": "objection", "category": "tasks"}),
        ("data_deleted", {"act": "objection", "categories": ["statistics"]}),
        ("consent_revoked", {"act": "restriction", "category": "profile"}),
        ("consent_accepted", {"act": "restriction_ended"}),
    ]


def test_an_objection_needs_the_scope_erase_and_a_restriction_the_scope_write(place: Place, lethe: Lethe, who: Dict[str, str]) -> None:
    with place.client(lethe.keys.create(scopes=["read", "write"])["api_key"]) as other:
        with pytest.raises(InsufficientScopeError) as error:
            other.data.object(**who)
        assert error.value.required == "erase"
        assert listed(other.data.restrict(**who)) == ([], [None])
    with place.client(lethe.keys.create(scopes=["read"])["api_key"]) as other:
        assert listed(other.data.refusals(**who)) == ([], [None])
        for act in (other.data.restrict, other.data.unrestrict):
            with pytest.raises(InsufficientScopeError):
                act(**who)


def test_malformed_ids_and_categories_are_refused(place: Place, key: str) -> None:
    given = subject()
    for bad in ({"user_id": 1}, {"guild_id": "x"}, {"category": 5}, {"category": ""}):
        for act in ("object", "restrict", "unrestrict"):
            status, answer = place.called(key, f"POST /data/{act}", {**given, **bad})
            assert (status, answer["fields"]) == (400, [*bad]), (act, bad)


def test_the_error_is_one_of_the_client() -> None:
    assert issubclass(ProcessingRefusedError, LetheError)
