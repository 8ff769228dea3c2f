#!/usr/bin/env python3
"""Verifies receipts of svc without svc: python3 verify-receipt.py RECEIPT.json... [--mime MAIL.eml]
Prints a line for each, and ends with 1 if one is not sound. Ed25519 is that of RFC 8032 (section 6), the paths are those
of RFC 9162 (2.1.3.2). Compare the keyId with the sender's key, at /.well-known/svc-receipts.json."""
import base64, datetime, functools, hashlib, json, sys
p, order = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
d, root_of_minus_one = -121665 * pow(121666, -1, p) % p, pow(2, (p - 1) // 4, p)
sha256, text = lambda data: hashlib.sha256(data).digest(), lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
def add(P, Q):
    A, B, C, D = (P[1] - P[0]) * (Q[1] - Q[0]) % p, (P[1] + P[0]) * (Q[1] + Q[0]) % p, 2 * P[3] * Q[3] * d % p, 2 * P[2] * Q[2] % p
    return ((B - A) * (D - C) % p, (D + C) * (B + A) % p, (D - C) * (D + C) % p, (B - A) * (B + A) % p)
def times(s, P, Q=(0, 1, 1, 0)):
    while s > 0: Q, P, s = add(Q, P) if s & 1 else Q, add(P, P), s >> 1
    return Q
def point(data):
    sign, y = int.from_bytes(data, "little") >> 255, int.from_bytes(data, "little") & (2**255 - 1)
    square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(square, (p + 3) // 8, p)
    x = x if (x * x - square) % p == 0 else x * root_of_minus_one % p
    assert (x * x - square) % p == 0, "head: publicKey or signature"
    x = x if x & 1 == sign else p - x
    return (x, y, 1, x * y % p)
@functools.lru_cache
def is_signed(key, message, signature):
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % order
    base = point((4 * pow(5, -1, p) % p).to_bytes(32, "little"))
    P, Q = times(int.from_bytes(signature[32:], "little"), base), add(point(signature[:32]), times(h, point(key)))
    return (P[0] * Q[2] - Q[0] * P[2]) % p == 0 and (P[1] * Q[2] - Q[1] * P[2]) % p == 0
def root(leaf, at, last, path):
    node = sha256(b"\0" + leaf)
    for other in map(bytes.fromhex, path):
        node, isRight = (sha256(b"\1" + other + node), True) if at & 1 or at == last else (sha256(b"\1" + node + other), False)
        while isRight and not at & 1 and at: at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    return node.hex() if last == 0 else None
def verify(r, mime):
    head, message, paths = r["head"], r["message"], {one["eventId"]: one for one in r["path"]}
    key, org = base64.b64decode(head["publicKey"], validate=True), message["organizationId"]
    line = "svc-receipts-v1\n%s\n%s\n%s\n%s\n" % (org, head["size"], head["root"], head["at"])
    assert is_signed(key, line.encode(), base64.b64decode(head["signature"], validate=True)) and sha256(key).hex()[:16] == head["keyId"], "head"
    ids, to = {e["id"] for e in r["events"]}, {a["recipient"] for a in r["attempts"]}
    if {1: False, 2: True}[r["version"]]:
        s = r["summary"]; line = "svc-receipts-v2\n%s\n%s\n%s\n%s\n%s\n" % (message["id"], s["events"], s["recipients"], head["root"], head["size"])
        assert is_signed(key, line.encode(), base64.b64decode(r["summarySignature"], validate=True)) and s["at"] == head["at"], "summary"
        assert (len(ids), len(r["events"]), len(to)) == (min(s["events"], 1000), len(ids), s["recipients"]), "summary: parts are left out"
    for e in r["events"]:
        at = round(datetime.datetime.fromisoformat(e["timestamp"].replace("Z", "+00:00")).timestamp() * 1000)
        leaf = text([e["id"], org, e["type"], message["id"], e["recipientId"], e["status"], at, None, e["facts"]])
        assert root(leaf, paths[e["id"]]["index"], head["size"] - 1, paths[e["id"]]["hashes"]) == head["root"], e["id"]
    proven = {(f.get("deliveryId"), f.get("recipient"), f.get("evidence")) for f in (e["facts"] or {} for e in r["events"])}
    for a in r["attempts"]: assert (a["deliveryId"], a["recipient"], base64.urlsafe_b64encode(sha256(text(a["attempt"]))).decode().rstrip("=")) in proven, "attempt of " + a["deliveryId"]
    digests = {a["attempt"]["digest"] for a in r["attempts"] if "digest" in a["attempt"]}
    assert message["digest"] in (digests if len(digests) == 1 else {None}) and sorted(to) == sorted(r["envelope"]["recipients"]), "message or envelope"
    assert mime is None or sha256(mime).hex() in digests, "mime"
    return None if r["version"] == 2 else "sound, but version 1 does not prove completeness"
isBad, mime = False, open(sys.argv.pop(sys.argv.index("--mime") + 1), "rb").read() if "--mime" in sys.argv else None
for name in (one for one in sys.argv[1:] if one != "--mime"):
    try: print(name, verify(json.load(open(name, encoding="utf-8")), mime) or "sound")
    except (AssertionError, KeyError, ValueError, TypeError) as error: isBad = True; print(name, "NOT SOUND:", error)
sys.exit(1 if isBad else 0)
