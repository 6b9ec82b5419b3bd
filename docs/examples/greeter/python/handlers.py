"""The handlers of handlers.ts in Python: hypercorn handlers:app --bind 127.0.0.1:9080"""

from datetime import datetime, timedelta, timezone

import restate
from restate import Context, Service

greeter = Service("Greeter")


def now() -> str:
    """Stands in for what differs from attempt to attempt, or must not be done twice."""
    return datetime.now(timezone.utc).isoformat()


@greeter.handler()
async def greet(ctx: Context, name: str) -> str:
    # A step: its result is stored, and no later attempt does it again.
    time = await ctx.run_typed("time", now)
    # It outlives this process and the server.
    await ctx.sleep(timedelta(seconds=1))
    return f"Hello {name}, it was {time}"


app = restate.app([greeter])
