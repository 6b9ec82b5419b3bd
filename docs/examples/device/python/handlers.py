"""The handlers of handlers.ts in Python: hypercorn handlers:app --bind 127.0.0.1:9080"""

from datetime import timedelta

import restate
from restate import ObjectContext, ObjectSharedContext, VirtualObject

# A device that sends nothing for so long is offline.
OFFLINE_AFTER = timedelta(seconds=2)

device = VirtualObject("Device")


@device.handler()
async def measured(ctx: ObjectContext, value: float) -> dict:
    """Something that the device measured. Sets the timer anew."""
    count = (await ctx.get("count", type_hint=int) or 0) + 1
    ctx.set("count", count)
    ctx.set("last", value)
    ctx.set("isOnline", True)
    ctx.object_send(time_over, key=ctx.key(), arg=count, send_delay=OFFLINE_AFTER)
    return {"count": count, "isOnline": True}


@device.handler(name="timeOver")
async def time_over(ctx: ObjectContext, count: int) -> None:
    """The timer of a measurement. It does nothing if there was a later one."""
    if await ctx.get("count", type_hint=int) == count:
        ctx.set("isOnline", False)


@device.handler(kind="shared")
async def status(ctx: ObjectSharedContext) -> dict:
    return {
        "count": await ctx.get("count", type_hint=int) or 0,
        "isOnline": await ctx.get("isOnline", type_hint=bool) or False,
    }


app = restate.app([device])
