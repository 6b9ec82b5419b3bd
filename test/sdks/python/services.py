"""A service that uses all that the context of the SDK offers."""

import asyncio
import os
from datetime import timedelta

from pydantic import BaseModel
from restate import (
    Context,
    InvocationRetryPolicy,
    RunOptions,
    Service,
    TerminalError,
    as_completed,
    gather,
    select,
    wait_completed,
)
from restate.exceptions import RetryableError
from restate.serde import BytesSerde, Serde

attempts: dict[str, int] = {}


def attempt(ctx: Context, what: str = "") -> int:
    """Which attempt of this process this is, from 1: what a handler must not remember, on purpose."""
    name = ctx.request().id + what
    attempts[name] = attempts.get(name, 0) + 1
    return attempts[name]


def ms(value: float) -> timedelta:
    return timedelta(milliseconds=value)


def failure(e: TerminalError) -> list:
    return [e.status_code, e.message, e.metadata]


class Point(BaseModel):
    x: int
    y: int = 0


class Shout(Serde[str]):
    def serialize(self, obj):
        return ("!" + (obj or "")).encode()

    def deserialize(self, buf):
        return buf.decode()[1:]


QUICK = RunOptions(
    max_attempts=3, initial_retry_interval=ms(10), max_retry_interval=ms(20), retry_interval_factor=2.0
)
service = Service(
    "PyService",
    description="Everything of a service",
    metadata={"team": "a"},
    inactivity_timeout=timedelta(minutes=2),
    abort_timeout=timedelta(minutes=3),
    journal_retention=timedelta(hours=1),
    idempotency_retention=timedelta(hours=2),
    invocation_retry_policy=InvocationRetryPolicy(ms(20), 1.5, ms(100), 50, "pause"),
)
# No inactivity timeout of its own: what the server is configured with decides when these suspend.
waits = Service("PyWaits", invocation_retry_policy=InvocationRetryPolicy(initial_interval=ms(20), max_interval=ms(100)))
hidden = Service("PyHidden", ingress_private=True)


@hidden.handler()
async def whisper(ctx: Context, name: str) -> str:
    return f"psst {name}"


@service.handler(metadata={"kind": "echo"}, idempotency_retention=timedelta(minutes=5))
async def echo(ctx: Context, value: str) -> str:
    """Says what it hears."""
    return value


@service.handler(name="renamed", ingress_private=True, inactivity_timeout=ms(1500), abort_timeout=ms(2500))
async def other_name(ctx: Context) -> str:
    return "renamed"


@service.handler(accept="application/octet-stream", content_type="application/octet-stream",
                 input_serde=BytesSerde(), output_serde=BytesSerde())
async def raw(ctx: Context, value: bytes) -> bytes:
    return bytes(reversed(value))


@service.handler(accept="*/*", content_type="text/plain", input_serde=Shout(), output_serde=Shout())
async def shout(ctx: Context, value: str) -> str:
    return value.upper()


@service.handler()
async def point(ctx: Context, value: Point) -> Point:
    return Point(x=value.y, y=value.x)


@service.handler()
async def nothing(ctx: Context) -> None:
    await ctx.run_typed("nothing", lambda: None)


@service.handler()
async def request(ctx: Context) -> dict:
    r = ctx.request()
    return {"mine": r.headers.get("x-mine"), "body": r.body.decode(), "key": r.idempotency_key,
            "scope": r.scope, "limit": r.limit_key, "id": r.id[:4]}


@service.handler()
async def steps(ctx: Context, value: int) -> list:
    async def plus(a: int, b: int) -> int:
        await asyncio.sleep(0.005)
        return a + b

    first = await ctx.run_typed("plus", plus, RunOptions(), value, b=2)
    second = await ctx.run_typed("point", lambda: Point(x=first), RunOptions(type_hint=Point))
    third = await ctx.run_typed("shout", lambda: "loud", RunOptions(serde=Shout()))
    old = await ctx.run("old", plus, args=(1, 1))
    void = await ctx.run_typed("void", lambda: None)
    return [first, second.model_dump(), third, old, void]


@service.handler()
async def flaky(ctx: Context, fails: int) -> list:
    def step() -> int:
        n = attempt(ctx)
        if n <= fails:
            raise ValueError(f"failure {n}")
        return n

    try:
        return ["ok", await ctx.run_typed("step", step, QUICK)]
    except TerminalError as e:
        return failure(e)


@service.handler()
async def gives_up(ctx: Context) -> None:
    def step() -> None:
        raise ValueError("never")

    await ctx.run_typed("step", step, RunOptions(max_attempts=2, initial_retry_interval=ms(10)))


@service.handler()
async def terminal_step(ctx: Context) -> list:
    def step() -> None:
        raise TerminalError("no such seat", status_code=409, metadata={"seat": "12a"})

    try:
        await ctx.run_typed("book", step)
    except TerminalError as e:
        return failure(e)
    return []


@service.handler()
async def later_step(ctx: Context) -> int:
    def step() -> int:
        n = attempt(ctx)
        if n < 3:
            raise RetryableError("later", status_code=503, retry_after=ms(30))
        return n

    return await ctx.run_typed("later", step)


@service.handler()
async def teapot(ctx: Context) -> None:
    raise TerminalError("short and stout", status_code=418, metadata={"handle": "here"})


@service.handler()
async def stumbles(ctx: Context, fails: int) -> int:
    n = attempt(ctx)
    if n <= fails:
        raise ValueError(f"stumbled {n}")
    return n


@service.handler()
async def later(ctx: Context) -> int:
    n = attempt(ctx)
    if n < 3:
        raise RetryableError("busy", status_code=503, retry_after=ms(40))
    return n


@service.handler(invocation_retry_policy=InvocationRetryPolicy(ms(10), 1.0, ms(10), 3, "kill"))
async def doomed(ctx: Context) -> None:
    raise ValueError("doomed")


@service.handler(invocation_retry_policy=InvocationRetryPolicy(ms(10), 1.0, ms(10), 3, "pause"))
async def stuck(ctx: Context) -> str:
    if attempt(ctx) <= 3:
        raise ValueError("stuck")
    return "free"


@waits.handler()
async def naps(ctx: Context, millis: int) -> str:
    await ctx.sleep(ms(millis), name="nap")
    await ctx.sleep(ms(1))
    return "awake"


@waits.handler()
async def chance(ctx: Context) -> bool:
    seen = [ctx.random().randint(0, 2**40), str(ctx.uuid()), await ctx.time()]
    kept = await ctx.run_typed("keep", lambda: seen)
    await ctx.sleep(ms(600))
    return seen == kept


@waits.handler()
async def calls(ctx: Context, name: str) -> list:
    call = ctx.service_call(echo, name, idempotency_key=f"call-{ctx.request().id}", headers={"x-mine": "a"})
    call_id = await call.invocation_id()
    heard = await call
    attached = await ctx.attach_invocation(call_id, type_hint=str)
    private = await ctx.service_call(whisper, name)
    generic = await ctx.generic_call("PyService", "raw", b"abc")
    void = await ctx.service_call(nothing, None)
    seen = await ctx.service_call(request, None, idempotency_key=ctx.request().id, headers={"x-mine": "b"})
    seen["key"] = seen["key"] == ctx.request().id
    try:
        await ctx.service_call(teapot, None)
    except TerminalError as e:
        return [call_id[:4], heard, attached, private, generic.decode(), void, seen, failure(e)]
    return []


@waits.handler()
async def unknown(ctx: Context, name: str) -> str:
    return (await ctx.generic_call("PyNowhere", name, b"")).decode()


@waits.handler()
async def sends(ctx: Context) -> list:
    now = ctx.service_send(echo, "now", headers={"x-mine": "c"})
    soon = ctx.service_send(echo, "soon", send_delay=ms(300), idempotency_key=ctx.request().id)
    same = ctx.service_send(echo, "other", idempotency_key=ctx.request().id)
    raw_one = ctx.generic_send("PyService", "raw", b"xyz")
    ids = [await h.invocation_id() for h in [now, soon, same, raw_one]]
    out = [await ctx.attach_invocation(i, type_hint=str) for i in ids[:3]]
    return out + [(await ctx.attach_invocation(ids[3], serde=BytesSerde())).decode(), ids[1] == ids[2]]


@waits.handler()
async def fan(ctx: Context, many: int) -> int:
    futures = [ctx.service_call(echo, str(i)) for i in range(many)]
    await gather(*futures)
    return sum([int(await f) for f in futures])


@waits.handler()
async def fan_runs(ctx: Context, many: int) -> int:
    async def one(i: int) -> int:
        await asyncio.sleep(0.01)
        return i

    futures = [ctx.run_typed(f"run {i}", one, RunOptions(), i) for i in range(many)]
    return sum([await f async for f in as_completed(*futures)])


@waits.handler()
async def races(ctx: Context) -> list:
    who, what = await select(call=ctx.service_call(echo, "won"), slow=ctx.sleep(timedelta(minutes=10)))
    _, promise = ctx.awakeable()
    loser, _ = await select(awakeable=promise, nap=ctx.sleep(ms(400)))
    done, open_ones = await wait_completed(ctx.sleep(ms(300)), ctx.sleep(timedelta(minutes=10)))
    order = [await f async for f in as_completed(ctx.service_call(naps, 900), ctx.service_call(echo, "quick"))]
    return [who, what, loser, len(done), len(open_ones), order]


@waits.handler()
async def settles(ctx: Context, it: dict) -> None:
    if "id" in it and it.get("reject"):
        ctx.reject_awakeable(it["id"], it["reject"], failure_code=it.get("code", 500))
    elif "id" in it:
        ctx.resolve_awakeable(it["id"], it.get("value"))
    elif it.get("reject"):
        ctx.reject_signal(it["target"], it["signal"], it["reject"], failure_code=it.get("code", 500))
    else:
        ctx.resolve_signal(it["target"], it["signal"], it.get("value"))


@waits.handler()
async def awakes(ctx: Context, how: dict) -> list:
    """Completed by another handler."""
    name, promise = ctx.awakeable(type_hint=dict)
    ctx.service_send(settles, {"id": name, **how}, send_delay=ms(how["delay"]) if "delay" in how else None)
    try:
        return ["value", await promise]
    except TerminalError as e:
        return failure(e)


@waits.handler()
async def awaits_world(ctx: Context, name: str) -> list:
    """Completed through the ingress; its id is kept by an object that can be asked for it."""
    awakeable, promise = ctx.awakeable(serde=BytesSerde())
    await ctx.generic_call("PyObject", "keep", b'"' + awakeable.encode() + b'"', key=name)
    try:
        return ["value", (await promise).decode()]
    except TerminalError as e:
        return failure(e)


@waits.handler()
async def signaled(ctx: Context, how: dict) -> list:
    ctx.service_send(settles, {"target": ctx.request().id, "signal": "go", **how}, send_delay=ms(300))
    try:
        return ["value", await ctx.signal("go", type_hint=dict)]
    except TerminalError as e:
        return failure(e)


@waits.handler()
async def waits_signal(ctx: Context, name: str) -> str:
    return await ctx.signal(name, type_hint=str)


@waits.handler()
async def compensates(ctx: Context, name: str) -> str:
    try:
        await ctx.sleep(timedelta(minutes=10))
    except TerminalError as e:
        await ctx.run_typed("undo", lambda: "undone")
        await ctx.generic_call("PyObject", "keep", f'"undone {e.status_code} {e.message}"'.encode(), key=name)
        raise
    return "slept"


@waits.handler()
async def waits_callee(ctx: Context, name: str) -> str:
    return await ctx.service_call(compensates, name)


@waits.handler()
async def cancels(ctx: Context, name: str) -> list:
    first = ctx.service_send(compensates, name)
    call = ctx.service_call(compensates, name + "-call")
    await ctx.sleep(ms(400))
    await first.cancel_invocation()
    await call.cancel_invocation()
    seen = []
    for future in [ctx.attach_invocation(await first.invocation_id(), type_hint=str), call]:
        try:
            await future
        except TerminalError as e:
            seen.append(failure(e))
    return seen


@waits.handler()
async def holds(ctx: Context, it: dict) -> int:
    """A step that takes long, for servers that die in the middle of it."""
    async def slow() -> int:
        await asyncio.sleep(it["millis"] / 1000)
        return os.getpid()

    await ctx.run_typed("first", lambda: 1)
    await ctx.run_typed("slow", slow)
    return await ctx.run_typed("last", lambda: 3)


@waits.handler()
async def scoped(ctx: Context, name: str) -> str:
    return await ctx.scope("tenant").service_call(echo, name, limit_key="a/b")
