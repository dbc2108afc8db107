#!/usr/bin/env python3
"""Verifies what a Lethe has signed, without asking it, and without anything but Python 3.8 or later.

    lethe_verify.py certificate FILE --keys KEYS [--salt SALT --bot ID --user ID --guild ID]
    lethe_verify.py final FILE --keys KEYS [--salt SALT --bot ID --user ID --guild ID]
    lethe_verify.py proof FILE --keys KEYS
    lethe_verify.py audit FILE --keys KEYS [--checkpoint FILE]...

KEYS is what /.well-known/lethe-keys.json answers, fetched by yourself. FILE is an answer of the interface, with or
without its envelope. Exit code 0: it holds; 1: it does not. What is hashed and signed: docs/audit-log.md.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from datetime import datetime, timedelta, timezone


class DoesNotHold(Exception):
    pass


def require(holds, message):
    if not holds:
        raise DoesNotHold(message)


def is_text(value):
    return isinstance(value, str)


# Ed25519 (RFC 8032): points of a curve over the integers modulo P, as (x, y) with x*y in a third place and a common
# denominator in between, so that adding them needs no division.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)


def add(one, other):
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a = (y1 - x1) * (y2 - x2) % P
    b = (y1 + x1) * (y2 + x2) % P
    c = 2 * t1 * t2 * D % P
    d = 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(factor, point):
    result = (0, 1, 1, 0)
    while factor > 0:
        if factor & 1:
            result = add(result, point)
        point = add(point, point)
        factor >>= 1
    return result


def same(one, other):
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (one[1] * other[2] - other[1] * one[2]) % P == 0


def point_of(text):
    """The point that 32 bytes stand for: y, and in the highest bit which of the two x."""
    number = int.from_bytes(text, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    require(y < P, "the key is no point of the curve")
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_1 % P
    require((x * x - square) % P == 0 and not (x == 0 and sign == 1), "the key is no point of the curve")
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(public_key, message, signature):
    if len(public_key) != 32 or len(signature) != 64:
        return False
    s = int.from_bytes(signature[32:], "little")
    if s >= ORDER:
        return False
    try:
        key, r = point_of(public_key), point_of(signature[:32])
    except DoesNotHold:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    return same(times(s, BASE), add(r, times(int.from_bytes(digest, "little") % ORDER, key)))


# Statements: compact JWS (RFC 7515).


def decoded(text):
    require(is_text(text), "a text in base64url is missing")
    try:
        content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise DoesNotHold("this is not base64url in its only notation") from None
    require(encoded(content) == text, "this is not base64url in its only notation")
    return content


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def json_of(part):
    try:
        value = json.loads(decoded(part).decode())
    except ValueError:
        value = None
    require(isinstance(value, dict), "this is not a compact JWS")
    return value


def statement(jws, key_set, typ):
    """What the statement says, if one of the keys has signed it for this purpose."""
    parts = jws.strip().split(".") if is_text(jws) else []
    require(len(parts) == 3, "this is not a compact JWS")
    header = json_of(parts[0])
    require(header.get("alg") == "EdDSA" and header.get("typ") == typ, "this is not " + typ)
    found = [key for key in key_set.get("keys", []) if key.get("kid") == header.get("kid")]
    require(found and found[0].get("crv") == "Ed25519", "the key is not in the key set")
    message = (parts[0] + "." + parts[1]).encode()
    require(is_signed(decoded(found[0].get("x")), message, decoded(parts[2])), "the signature does not fit")
    content, retired_at = json_of(parts[1]), found[0].get("retired_at")
    if retired_at is not None:
        signed_at = signing_time(content)
        in_time = signed_at is not None and signed_at <= time_of(retired_at) + RETIRING
        require(in_time, "the key was retired before the time of the statement")
    return content


# A process signs with its copy of a key for up to 30 seconds after its retirement, and clocks differ by seconds.
RETIRING = timedelta(seconds=60)


def time_of(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)


def signing_time(content):
    """When the statement says that it was signed; None where it says nothing."""
    if "iat" in content:
        return datetime.fromtimestamp(content["iat"], timezone.utc)
    names = ("sealed_at", "exported_at", "pruned_at", "issued_at")
    texts = [content[name] for name in names if name in content]
    return time_of(texts[0]) if texts else None


# What is hashed.


def framed(*parts):
    content = [part if isinstance(part, bytes) else str(part).encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in content)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def part_hash(name, part, erased):
    # A value beside a hash would be any.
    if set(part) == {"hash"} and erased is True and name != "details":
        return decoded(part["hash"])
    require(set(part) == {"value", "salt"}, name + " must have value and salt; a hash alone is valid for an erased user only")
    value = part["value"]
    require(value is None or isinstance(value, str), name + " is no text")
    return sha256(b"\x03", framed(name, decoded(part["salt"]), *([] if value is None else [value])))


def is_whole(value):
    # True equals 1.
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


# The check of each field of an event. The number 5 and the text "5" would have the same leaf.
EVENT = {
    "seq": is_whole,
    "id": is_text,
    "event_type": is_text,
    "source": is_text,
    "created_at": is_text,
    "commitment": is_text,
    "erased": lambda value: isinstance(value, bool),
    "parts": lambda value: value is None or isinstance(value, dict),
}


def leaf_of(bot_id, event):
    given = event if isinstance(event, dict) else {}
    for name, is_valid in EVENT.items():
        require(name in given and is_valid(given[name]), "the event lacks " + name)
    commitment = decoded(event["commitment"])
    if event["parts"] is not None:
        hashes = [part_hash(name, event["parts"][name], event["erased"]) for name in ("user", "guild", "details")]
        require(sha256(b"\x04", *hashes) == commitment, "user, guild or details are not those that were sealed")
    fields = [event[name] for name in ("seq", "id", "event_type", "source", "created_at")]
    return sha256(b"\x00", framed(bot_id, *fields, commitment))


def node(left, right):
    return sha256(b"\x01", left, right)


def root_of(leaves):
    level = leaves
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [node(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0] if level else sha256()


def root_by(leaf, index, size, path):
    has_place = isinstance(path, list) and is_whole(index) and 0 <= index < size
    require(has_place, "the event has no place under the checkpoint")
    left = [decoded(text) for text in path]
    reached, at, last = leaf, index, size - 1
    while last > 0:
        if at % 2 == 1 or at != last:
            require(left, "the path is too short")
            other = left.pop(0)
            reached = node(other, reached) if at % 2 == 1 else node(reached, other)
        at, last = at // 2, last // 2
    require(not left, "the path is too long")
    return reached


def checkpoint_of(jws, key_set):
    checkpoint = statement(jws, key_set, "lethe-audit-checkpoint+jwt")
    texts = [checkpoint[name] for name in ("bot_id", "number", "first_seq", "last_seq", "events")]
    hashes = [decoded(checkpoint[name]) for name in ("root", "identities", "previous")]
    chain = sha256(b"\x02", framed(*texts, *hashes, checkpoint["sealed_at"]))
    require(encoded(chain) == checkpoint["chain"], "the chain value of the checkpoint is not that of its fields")
    return checkpoint


# What can be verified.


def is_text_or_none(value):
    return value is None or is_text(value)


def is_place(value):
    """A place in the chain of a log: the number of its batch, and the hash over everything up to it."""
    if not isinstance(value, dict) or not isinstance(value.get("number"), int):
        return False
    return value["number"] >= 1 and is_text(value.get("chain")) and value["chain"] != ""


CERTIFICATE = {
    "request_id": is_text,
    "bot_id": is_text,
    "subject_commitment": is_text,
    "requested_at": is_text,
    "completed_at": is_text,
    "unrecoverable_at": is_text_or_none,
    "deleted_categories": lambda value: isinstance(value, list),
    "erased_rows": lambda value: isinstance(value, dict),
    "destroyed_key": is_text_or_none,
    "audit": is_place,
    "backups_clear_by": is_text,
}


def verify_certificate(jws, key_set, salt=None, bot=None, user=None, guild=None):
    certificate = statement(jws, key_set, "lethe-erasure-certificate+jwt")
    for name, is_valid in CERTIFICATE.items():
        require(name in certificate and is_valid(certificate[name]), "the certificate lacks " + name)
    if None not in (salt, bot, user, guild):
        commitment = sha256(decoded(salt), b"\x00", "/".join((bot, guild, user)).encode())
        require(encoded(commitment) == certificate["subject_commitment"], "the certificate is not about this user")
    return certificate


def is_named(holder):
    return isinstance(holder, dict) and is_text(holder.get("key"))


def is_time(value):
    """A time as the interface writes it, so that times sort as texts."""
    return is_text(value) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", value) is not None


def is_count(value):
    # True equals 1, and JSON has one kind of numbers.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53 and value % 1 == 0


def is_counts(value):
    return isinstance(value, dict) and all(map(is_count, value.values()))


def is_kept(value):
    return isinstance(value, dict) and set(value) == {"basis", "until"} and all(map(is_text, value.values()))


FINAL = {
    "bot_id": is_text,
    "request_id": is_text,
    "certificate": is_text,
    "holders": lambda value: isinstance(value, list) and value != [] and all(map(is_named, value)),
    "completed_at": is_time,
    "issued_at": is_time,
}
ANSWER = {
    "key": is_text,
    "label_de": is_text,
    "label_en": is_text,
    "covers": lambda value: isinstance(value, list) and all(map(is_text, value)),
    "result": lambda value: is_text(value) and value in ("erased", "nothing", "kept"),
    "counts": lambda value: value is None or is_counts(value),
    "kept": lambda value: value is None or is_kept(value),
    "answered_at": is_time,
    "public_key": is_text_or_none,
    "statement": is_text_or_none,
}
SAID = {"bot_id", "holder", "task_id", "result", "counts", "kept", "at"}


def verify_answer(answer, bot_id, request_id):
    """When the holder says, by its own signature, that it answered; None where only the service says so."""
    key = answer["key"]
    whole = all(name in answer and is_valid(answer[name]) for name, is_valid in ANSWER.items())
    whole = whole and (answer["result"] == "kept") == (answer["kept"] is not None)
    require(whole, "an answer is incomplete: that of the holder %s" % key)
    if answer["public_key"] is None and answer["statement"] is None:
        return None
    require(answer["statement"] is not None, "a statement is missing, though the holder %s has a key" % key)
    require(answer["public_key"] is not None, "a statement has no key: that of the holder %s" % key)
    parts = answer["statement"].split(".")
    require(len(parts) == 3, "this is not a compact JWS")
    header, said = json_of(parts[0]), json_of(parts[1])
    of_form = header == {"alg": "EdDSA", "typ": "lethe-holder-answer+jwt"} and set(said) == SAID and is_text(said["at"])
    require(of_form, "a statement is of another form: that of the holder %s" % key)
    message = (parts[0] + "." + parts[1]).encode()
    own = is_signed(decoded(answer["public_key"]), message, decoded(parts[2]))
    require(own, "a statement is not signed by the key of the holder %s" % key)
    about = (said["bot_id"], said["holder"], said["task_id"]) == (bot_id, key, request_id)
    require(about, "a statement is of another bot, holder or erasure: that of the holder %s" % key)
    same_answer = all(ANSWER[name](said[name]) and said[name] == answer[name] for name in ("result", "counts", "kept"))
    require(same_answer, "a statement says something else than the answer of the holder %s" % key)
    return said["at"]


def verify_final(jws, key_set, salt=None, bot=None, user=None, guild=None):
    final = statement(jws, key_set, "lethe-final-certificate+jwt")
    version = final.get("version")
    require(version == 1 and version is not True, "the version of the final certificate is not 1")
    for name, is_valid in FINAL.items():
        require(name in final and is_valid(final[name]), "the final certificate lacks " + name)
    certificate = verify_certificate(final["certificate"], key_set, salt, bot, user, guild)
    require(certificate["bot_id"] == final["bot_id"], "the certificate inside is of another bot")
    require(certificate["request_id"] == final["request_id"], "the certificate inside is of another erasure")
    keys = [answer["key"] for answer in final["holders"]]
    in_order = all(one < other for one, other in zip([""] + keys, keys))
    require(in_order, "the holders are not in their order, or one is named twice")
    about = (final["bot_id"], final["request_id"])
    holders = [dict(answer, signed_at=verify_answer(answer, *about)) for answer in final["holders"]]
    last = max(answer["answered_at"] for answer in holders)
    require(last == final["completed_at"], "the time of completion is not that of the last answer")
    told = {name: final[name] for name in ("version", "bot_id", "request_id", "completed_at", "issued_at")}
    return dict(told, certificate=certificate, holders=holders)


def verify_proof(proof, key_set):
    checkpoint = checkpoint_of(proof["checkpoint"], key_set)
    require(checkpoint["bot_id"] == proof["bot_id"], "the checkpoint is of another bot")
    leaf = leaf_of(proof["bot_id"], proof["event"])
    root = root_by(leaf, proof["leaf_index"], checkpoint["events"], proof["path"])
    require(encoded(root) == checkpoint["root"], "the event is not in the batch of the checkpoint")
    return checkpoint


class Log:
    """Follows one export; whatever does not go on from what was before is refused."""

    def __init__(self, key_set, kept):
        self.kept, self.kept_of = {}, set()
        for checkpoint in [checkpoint_of(jws, key_set) for jws in kept]:
            self.compare(checkpoint)
            self.kept[checkpoint["number"]] = checkpoint["chain"]
            self.kept_of.add(checkpoint["bot_id"])
        require(len(self.kept_of) <= 1, "the checkpoints that were kept are of several bots")
        self.key_set, self.bot_id, self.chain, self.statement = key_set, None, None, None
        self.after = self.number = self.events = self.erased = 0
        self.whole = False
        self.last_seq = float("-inf")
        self.leaves, self.seqs = [], []

    def compare(self, told):
        """There is one batch of each number: what is told of it is what was kept of it."""
        fits = self.kept.get(told["number"], told["chain"]) == told["chain"]
        require(fits, "batch %s is not the one of the checkpoint that was kept" % told["number"])

    def take(self, line):
        kind = line.get("type")
        require(self.statement is None, "something follows the end of the export")
        require((kind == "log") == (self.bot_id is None), "an export has one first line, which names the bot")
        require(kind in ("log", "event", "batch", "end"), "this is not a line of an audit export")
        getattr(self, "take_" + kind)(line)

    def take_log(self, line):
        require(is_text(line["bot_id"]) and is_whole(line["after"]), "this is not a line of an audit export")
        self.bot_id, self.after, self.number = line["bot_id"], line["after"], line["after"]
        require(self.kept_of <= {self.bot_id}, "the checkpoint that was kept is of another bot")
        self.whole = self.number == 0
        if self.whole:
            self.chain = encoded(bytes(32))
        if line["pruning"] is not None:
            pruned = statement(line["pruning"], self.key_set, "lethe-audit-pruning+jwt")
            fits = pruned["bot_id"] == self.bot_id and pruned["number"] <= self.number
            require(fits, "what was pruned does not lead to this log")
            self.compare(pruned)
            if pruned["number"] == self.number:
                self.whole, self.chain, self.last_seq = True, pruned["chain"], pruned["last_seq"]
        # The first batch has to follow from what was kept of the one before it.
        if self.chain is None:
            self.chain = self.kept.get(self.number)

    def take_event(self, event):
        self.leaves.append(leaf_of(self.bot_id, event))
        self.seqs.append(event["seq"])
        self.events += 1
        self.erased += event["erased"]

    def take_batch(self, line):
        batch = checkpoint_of(line["checkpoint"], self.key_set)
        require(batch["bot_id"] == self.bot_id, "the batch is of another bot")
        require(batch["number"] == self.number + 1, "a batch is missing before number %s" % batch["number"])
        # Of an export that begins in the middle only the signature says what was before.
        require(self.chain in (None, batch["previous"]), "the batch does not follow from the one before")
        require(batch["events"] == len(self.leaves), "the batch has another number of events")
        before = [self.last_seq] + self.seqs
        in_order = all(one < other for one, other in zip(before, self.seqs))
        ends = self.seqs[:1] + self.seqs[-1:]
        require(in_order and ends == [batch["first_seq"], batch["last_seq"]], "the events are not in their order")
        require(encoded(root_of(self.leaves)) == batch["root"], "an event was changed, exchanged or moved")
        self.compare(batch)
        self.number, self.chain, self.last_seq = batch["number"], batch["chain"], batch["last_seq"]
        self.leaves, self.seqs = [], []

    def take_end(self, line):
        end = statement(line["statement"], self.key_set, "lethe-audit-export+jwt")
        require(not self.leaves, "events follow the last batch")
        told = (end["bot_id"], end["after"], end["events"])
        at_end = end["number"] < self.after or (end["number"], end["chain"]) == (self.number, self.chain or end["chain"])
        require(told == (self.bot_id, self.after, self.events) and at_end, "lines are missing from the export")
        self.compare(end)
        require(not [number for number in self.kept if number > end["number"]], "a batch that was kept is missing")
        self.statement = end

    def end(self):
        require(self.statement is not None, "the export was cut: its last line is missing")
        # What was before another beginning, nothing proves.
        begin = {"bot_id": self.bot_id, "after": self.after, "is_whole": self.whole}
        counts = {"batches": self.number - self.after, "events": self.events, "erased": self.erased}
        return {**begin, **counts, "number": self.number, "chain": self.chain}


def verify_audit(lines, key_set, kept=()):
    log = Log(key_set, kept)
    for number, text in enumerate(lines, 1):
        try:
            if text.strip():
                log.take(json.loads(text))
        except DoesNotHold as error:
            raise DoesNotHold("line %d: %s" % (number, error)) from None
    return log.end()


def content_of(path):
    """What stands in a file, taken out of the envelope."""
    with open(path, encoding="utf-8") as file:
        text = file.read().strip()
    if not text.startswith("{"):
        return text
    value = json.loads(text)
    return value.get("data", value)


def run(given):
    key_set = content_of(given.keys)
    if given.kind == "proof":
        return verify_proof(content_of(given.file), key_set)
    if given.kind == "audit":
        with open(given.file, encoding="utf-8") as lines:
            return verify_audit(lines, key_set, [content_of(path) for path in given.checkpoint])
    content = content_of(given.file)
    jws = content["certificate"] if isinstance(content, dict) else content
    verify = verify_final if given.kind == "final" else verify_certificate
    return verify(jws, key_set, given.salt, given.bot, given.user, given.guild)


def joined(args):
    """A salt may begin with a hyphen, with which it would look like another option."""
    if "--salt" not in args[:-1]:
        return args
    at = args.index("--salt")
    return args[:at] + ["--salt=" + args[at + 1]] + args[at + 2 :]


NAMING = ("salt", "bot", "user", "guild")


def refuse_left_out(parser, given):
    """What is named has to be verified, or refused: a verification that leaves it out would seem to be about it."""
    named = [name for name in NAMING if getattr(given, name) is not None]
    is_certificate = given.kind in ("certificate", "final")
    foreign = [] if is_certificate else named
    if given.checkpoint and given.kind != "audit":
        foreign = foreign + ["checkpoint"]
    if foreign:
        parser.error("--%s is no option of this kind of file" % foreign[0])
    missing = ["--" + name for name in NAMING if name not in named]
    if named and missing:
        parser.error("a certificate is tied to a user by --salt, --bot, --user and --guild together: %s is missing" % ", ".join(missing))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["certificate", "final", "proof", "audit"])
    parser.add_argument("file")
    parser.add_argument("--keys", required=True)
    parser.add_argument("--checkpoint", action="append", default=[])
    for name in NAMING:
        parser.add_argument("--" + name)
    given = parser.parse_args(joined(sys.argv[1:]))
    refuse_left_out(parser, given)
    try:
        found = run(given)
    except DoesNotHold as error:
        sys.exit("it does not hold: %s" % error)
    except (KeyError, TypeError, ValueError) as error:
        sys.exit("it does not hold: the file has not the form that it should have (%r)" % error)
    print("it holds")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
