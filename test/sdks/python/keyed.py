"""A virtual object and a workflow that use all that the SDK offers for them."""

import os
from datetime import timedelta

from restate import (
    InvocationRetryPolicy,
    ObjectContext,
    ObjectSharedContext,
    TerminalError,
    VirtualObject,
    Workflow,
    WorkflowContext,
    WorkflowSharedContext,
)
from restate.serde import BytesSerde

from services import Point, failure, ms

# A list of keys is for servers that read version 5 of the manifest.
some_keys = ["a", "b"] if os.environ.get("PRELOAD_SOME") else None
item = VirtualObject(
    "PyObject", description="Everything of an object", metadata={"team": "b"}, inactivity_timeout=None
)
lazy = VirtualObject("PyLazy", state_preload=False)
flow = Workflow(
    "PyFlow",
    description="Everything of a workflow",
    invocation_retry_policy=InvocationRetryPolicy(initial_interval=ms(20), max_interval=ms(100)),
)


async def tour(ctx: ObjectContext) -> list:
    """Every operation on state, some of them after a sleep in which the handler may be suspended."""
    ctx.clear_all()
    seen = [await ctx.get("a", type_hint=int), await ctx.state_keys()]
    ctx.set("a", 1)
    ctx.set("b", Point(x=1, y=2).model_dump(), entry_name="set b")
    ctx.set("c", b"\x00\xff", serde=BytesSerde())
    ctx.set("d", None)
    await ctx.sleep(ms(400))
    raw = await ctx.get("c", serde=BytesSerde())
    seen += [await ctx.get("a", entry_name="get a"), await ctx.get("b", type_hint=Point), list(raw or b"")]
    seen[3] = seen[3].model_dump() if isinstance(seen[3], Point) else seen[3]
    seen += [await ctx.get("d"), sorted(await ctx.state_keys(entry_name="keys"))]
    ctx.clear("a", entry_name="clear a")
    seen += [await ctx.get("a"), sorted(await ctx.state_keys())]
    ctx.clear_all(entry_name="clear all")
    seen += [await ctx.get("b"), await ctx.state_keys(), ctx.key()]
    ctx.set("left", "over")
    return seen


@item.handler()
async def eager_tour(ctx: ObjectContext) -> list:
    return await tour(ctx)


@item.handler(enable_lazy_state=True)
async def lazy_tour(ctx: ObjectContext) -> list:
    return await tour(ctx)


@lazy.handler(state_preload=some_keys)
async def some_tour(ctx: ObjectContext) -> list:
    return await tour(ctx)


@item.handler()
async def add(ctx: ObjectContext, value: int) -> int:
    count = (await ctx.get("count", type_hint=int) or 0) + value
    ctx.set("count", count)
    return count


@item.handler()
async def slow_add(ctx: ObjectContext, value: int) -> int:
    before = await ctx.get("count", type_hint=int) or 0
    await ctx.sleep(ms(50))
    ctx.set("count", before + value)
    return before + value


@item.handler()
async def add_and_fail(ctx: ObjectContext, value: int) -> None:
    ctx.set("count", value)
    raise TerminalError("kept all the same", status_code=400)


@item.handler()
async def keep(ctx: ObjectContext, value: str) -> None:
    ctx.set("kept", value)


@item.handler(kind="shared")
async def kept(ctx: ObjectSharedContext) -> str | None:
    return await ctx.get("kept", type_hint=str)


@item.handler(kind="shared")
async def count(ctx: ObjectSharedContext) -> list:
    return [await ctx.get("count", type_hint=int), sorted(await ctx.state_keys()), ctx.key()]


@item.handler(kind="shared", enable_lazy_state=True)
async def lazy_count(ctx: ObjectSharedContext) -> list:
    return [await ctx.get("count", type_hint=int), sorted(await ctx.state_keys()), ctx.key()]


@item.handler()
async def big(ctx: ObjectContext, size: int) -> int:
    ctx.set("big", "x" * size)
    await ctx.sleep(ms(400))
    return len(await ctx.get("big", type_hint=str) or "")


@item.handler()
async def relay(ctx: ObjectContext, value: int) -> list:
    """Calls another key, and itself one way."""
    other = await ctx.object_call(add, "other of " + ctx.key(), value)
    handle = ctx.object_send(add, ctx.key(), value, send_delay=ms(10))
    return [other, (await handle.invocation_id())[:4], await ctx.object_call(count, ctx.key(), None)]


@item.handler()
async def blocks(ctx: ObjectContext) -> str:
    await ctx.sleep(timedelta(minutes=10))
    return "never"


@flow.main(workflow_retention=timedelta(days=2))
async def run(ctx: WorkflowContext, value: str) -> list:
    ctx.set("stage", "waiting")
    first = await ctx.promise("first", type_hint=str)
    ctx.set("stage", first)
    try:
        await ctx.promise("second", type_hint=str).value()
        second = None
    except TerminalError as e:
        second = failure(e)
    await ctx.promise("mine", type_hint=dict).resolve({"by": "run"})
    again = await ctx.promise("mine", type_hint=dict).peek()
    return [value, first, second, again, ctx.key()]


@flow.handler()
async def settle(ctx: WorkflowSharedContext, it: dict) -> list:
    promise = ctx.promise(it["name"], type_hint=str)
    before = await promise.peek()
    try:
        if "reject" in it:
            await promise.reject(it["reject"], it.get("code", 500))
        else:
            await promise.resolve(it.get("value"))
    except TerminalError as e:
        return ["refused", before, *failure(e)]
    return ["settled", before]


@flow.handler()
async def peek(ctx: WorkflowSharedContext, name: str) -> list:
    try:
        return ["value", await ctx.promise(name, type_hint=str).peek()]
    except TerminalError as e:
        return failure(e)


@flow.handler()
async def awaits(ctx: WorkflowSharedContext, name: str) -> dict:
    return await ctx.promise(name, type_hint=dict)


@flow.handler()
async def stage(ctx: WorkflowSharedContext) -> list:
    return [await ctx.get("stage", type_hint=str), await ctx.state_keys(), ctx.key()]


starter = VirtualObject("PyStarter")


@starter.handler()
async def start(ctx: ObjectContext, value: str) -> list:
    """Submits a workflow, settles its promises and awaits it."""
    handle = ctx.workflow_send(run, ctx.key(), value)
    await ctx.workflow_call(settle, ctx.key(), {"name": "first", "value": "one"})
    await ctx.workflow_call(settle, ctx.key(), {"name": "second", "reject": "not two", "code": 422})
    result = await ctx.attach_invocation(await handle.invocation_id(), type_hint=list)
    try:
        await ctx.workflow_call(run, ctx.key(), value)
    except TerminalError as e:
        return [result, e.status_code]
    return [result, await ctx.workflow_call(peek, ctx.key(), "mine")]
