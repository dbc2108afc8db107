"""Holds the calls and their answers to openapi.json, which lies beside the documentation."""

import ast
import inspect
import json
import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Tuple, get_type_hints

import pytest

import lethe_client as package
from lethe_client import AsyncLethe, Lethe, LetheError, types
from lethe_client.errors import error_of

DOCS = Path(os.environ.get("LETHE_DOCS", Path(__file__).resolve().parents[3] / "docs"))
README = Path(__file__).resolve().parent.parent / "README.md"
OPENAPI = json.loads((DOCS.parent / "openapi.json").read_text())
ROUTES = [
    (f"{method.upper()} {path[len('/api/v1'):]}", operation)
    for path, item in OPENAPI["paths"].items()
    for method, operation in item.items()
]
#: What the method itself says, or what another method of the same route says.
SAID = {"mode", "scope", "format"}
CLIENTS = [AsyncLethe("http://lethe.test", "k"), Lethe("http://lethe.test", "k")]


def methods(client: Any) -> Iterator[Tuple[str, Callable[..., Any]]]:
    groups = [("", client)] + [(f"{name}.", group) for name, group in vars(client).items() if name[0] != "_"]
    for prefix, group in groups:
        for name in dir(group):
            method = inspect.getattr_static(group, name)
            if name[0] != "_" and callable(getattr(group, name)) and not isinstance(method, type):
                yield prefix + name, getattr(group, name)


def called(client: Any, operation: Dict[str, Any]) -> Tuple[Callable[..., Any], ast.Call]:
    """The method of the sample of an operation, and its call."""
    source = next(one["source"] for one in operation["x-codeSamples"] if one["label"] == "Python")
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    call = next(one for one in calls if re.match(r"(lethe\.|Lethe\.register)", ast.unparse(one.func)))
    found = client
    for name in ast.unparse(call.func).split(".")[1:]:
        found = getattr(found, name)
    return found, call


def fields(operation: Dict[str, Any]) -> Iterator[str]:
    """What the interface takes, but for the guide's shape."""
    places = ("query", "path")
    yield from (one["name"] for one in operation.get("parameters", []) if one["in"] in places)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for ref in [body] if "$ref" in body else body.get("anyOf", body.get("oneOf", [])):
        schema = OPENAPI["components"]["schemas"][ref["$ref"].split("/")[-1]]
        if "bot_id" not in schema.get("required", []):
            yield from schema["properties"]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("route, operation", ROUTES, ids=lambda one: one if isinstance(one, str) else "")
def test_each_operation_has_a_method_with_its_keywords(client: Any, route: str, operation: Dict[str, Any]) -> None:
    method, call = called(client, operation)
    signature = inspect.signature(method)
    signature.bind(*call.args, **{str(one.arg): None for one in call.keywords})
    if method.__name__ == "request" or call.args:
        return
    known = {name.rstrip("_") for name in signature.parameters}
    is_list = re.search("Pages|Walk", str(signature.return_annotation)) is not None
    by_key = {"bot_id"} | ({"page", "page_size", "after"} if is_list else set())
    assert set(fields(operation)) - by_key - known <= SAID


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: type(one).__name__)
def test_each_method_names_its_keywords_and_its_answer(client: Any) -> None:
    found = dict(methods(client))
    assert len(found) > 55
    for name, method in found.items():
        kinds = {one.kind for one in inspect.signature(method).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, f"{name} takes any keyword"
        if name not in ("request", "public_keys", "webhook_keys"):
            assert get_type_hints(method)["return"] not in (Any, Dict[str, Any]), f"{name} answers anything"


def test_the_readme_names_each_method() -> None:
    text = README.read_text().split("## Calls")[1].split("## Errors")[0]
    rows = re.findall(r"^\| (?:`(\w+)`|itself) +\| (.*) \|$", text, re.MULTILINE)
    named = {f"{group}." if group else "": set(re.findall(r"`(\w+)[`(]", text)) for group, text in rows}
    for name, _ in methods(CLIENTS[1]):
        group, _, method = name.rpartition(".")
        assert method in named[f"{group}." if group else ""] or name in ("close", "register"), name


def test_a_misspelt_keyword_is_refused_before_a_request() -> None:
    lethe: Any = CLIENTS[1]
    for call in (lethe.consents.accept, lethe.categories.register, lethe.bots.change, lethe.privacy.link, lethe.stats):
        with pytest.raises(TypeError, match="user_idd"):
            call(user_idd="1")


def test_the_records_are_those_of_the_interface() -> None:
    for name, schema in OPENAPI["components"]["schemas"].items():
        record = getattr(types, name, None)
        if record is None:
            continue
        hints = get_type_hints(record)
        required = {key for key in hints if key in record.__required_keys__}
        assert (set(hints), required) == (set(schema["properties"]), set(schema.get("required", []))), name
    assert get_type_hints(types.ConsentView)["user_id"] is str


def test_each_error_names_its_place_in_the_documentation() -> None:
    text = (Path(package.__file__).parent / "errors.md").read_text()
    assert text == (DOCS / "errors.md").read_text()
    headings = re.findall(r"^### (.*)$", text, re.MULTILINE)
    named = []
    for heading in headings:
        status, code = re.fullmatch(r"(?:(\d+) )?`(\w+)`", heading).groups()
        details = {} if status else {"reason": code}
        named.append(error_of(code if status else "conflict", "refused", status=int(status or 409), details=details))
    slugs = [re.sub("[`]", "", heading).replace(" ", "-") for heading in headings]
    assert [error.docs for error in named] == [f"lethe_client/errors.md#{slug}" for slug in slugs]
    assert {error.code for error in named} == set(types.CODES)
    refused = error_of("processing_refused", "refused", status=403, details={"reason": "objection"})
    assert refused.docs == "lethe_client/errors.md#403-processing_refused"
    assert LetheError("no answer", code="network_error").docs is None
