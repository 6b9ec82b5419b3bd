"""python client.py INGRESS_URL TAG: everything the SDK's client for the ingress offers, as one JSON object."""

import asyncio
import json
import os
import sys
from datetime import timedelta

from restate import HttpError, create_client

from keyed import add, peek, run, settle
from services import Point, echo, nothing, other_name, point, raw, request, shout, teapot, whisper

tag = "client-" + sys.argv[2]
soon = timedelta(milliseconds=200)


async def refused(call) -> list:
    try:
        answer = await call
        return ["answered", getattr(answer, "invocation_id", answer)]
    except HttpError as e:
        body = json.loads(e.body or "{}")
        return [e.status_code, {k: v for k, v in body.items() if k != "stacktrace"}]
    except Exception as e:
        return [type(e).__name__, str(e)]


async def tour(client) -> dict:
    seen: dict = {}
    seen["echo"] = await client.service_call(echo, "hé")
    seen["key"] = [await client.service_call(echo, v, idempotency_key=f"k{tag}") for v in ["one", "two"]]
    seen["raw"] = (await client.service_call(raw, b"\x01\x02\x03")).hex()
    seen["shout"] = await client.service_call(shout, "hey")
    seen["point"] = (await client.service_call(point, Point(x=1, y=2))).model_dump()
    seen["void"] = await client.service_call(nothing, None)
    seen["request"] = await client.service_call(request, None, f"r{tag}", {"x-mine": "me"})
    seen["private"] = await refused(client.service_call(whisper, "x"))
    seen["private handler"] = await refused(client.service_call(other_name, None))
    seen["terminal"] = await refused(client.service_call(teapot, None))
    # The client says `delay=200`, which is no duration: a status, as the words are each server's own.
    seen["delayed"] = (await refused(client.service_send(echo, "x", soon)))[0]
    sent = [await client.service_send(echo, v, idempotency_key=f"s{tag}") for v in ["a", "b"]]
    seen["send"] = [sent[0].invocation_id[:4], sent[0].invocation_id == sent[1].invocation_id]
    seen["object"] = [await client.object_call(add, f"o {tag}", 2), await client.object_call(add, f"o {tag}", 3)]
    handle = await client.object_send(add, f"o {tag}", 4)
    seen["object send"] = [handle.invocation_id[:4], await client.object_call(add, f"o {tag}", 0)]
    await client.workflow_send(run, f"w{tag}", "in")
    seen["settle"] = [
        await client.workflow_call(settle, f"w{tag}", {"name": "first", "value": "one"}),
        await client.workflow_call(settle, f"w{tag}", {"name": "second", "value": "two"}),
    ]
    seen["again"] = (await refused(client.workflow_call(run, f"w{tag}", "in")))[0]
    seen["peek"] = await client.workflow_call(peek, f"w{tag}", "first")
    seen["generic, no type"] = await refused(client.generic_call("PyService", "raw", b"abc"))
    octets, js = {"Content-Type": "application/octet-stream"}, {"Content-Type": "application/json"}
    seen["generic"] = (await client.generic_call("PyService", "raw", b"abc", headers=octets)).decode()
    seen["generic object"] = (await client.generic_call("PyObject", "add", b"1", f"g {tag}", headers=js)).decode()
    late = await client.generic_send("PyService", "raw", b"abc", idempotency_key=f"g{tag}", headers=octets)
    seen["generic send"] = late.invocation_id[:4]
    seen["nowhere"] = await refused(client.generic_call("PyNowhere", "raw", b"abc"))
    seen["no handler"] = await refused(client.generic_call("PyService", "nope", b"abc"))
    return seen


async def scopes(client) -> dict:
    scope = client.scope("tenant")
    return {
        "scoped call": await refused(scope.service_call(echo, "x")),
        "scoped limit": await refused(scope.service_call(echo, "x", limit_key="a/b", idempotency_key=f"l{tag}")),
        "scoped send": await refused(scope.service_send(echo, "x", send_delay=soon)),
        "scoped object": await refused(scope.object_call(add, f"s{tag}", 1)),
        "scoped workflow": await refused(scope.workflow_send(run, f"s{tag}", "x")),
        "bad scope": await refused(client.scope("a:b").service_call(echo, "x")),
        "bad limit": await refused(scope.service_call(echo, "x", limit_key="a/b/c")),
    }


async def main() -> None:
    token = os.environ.get("TOKEN")
    headers = {"authorization": f"Bearer {token}"} if token else None
    async with create_client(sys.argv[1], headers) as client:
        print(json.dumps({**await tour(client), **await scopes(client)}))


asyncio.run(main())
