"""python endpoint.py PORT [h2|h1]: streams both ways with hypercorn, else answers with uvicorn."""

import asyncio
import os
import sys

import restate
from restate._preview import explicit_recovery
from restate import Service, Context, RunOptions

from keyed import flow, item, lazy, starter
from services import attempt, hidden, service, waits

port, mode = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "h2"
afresh = explicit_recovery(Service("PyAfresh"))


@afresh.handler()
async def again(ctx: Context) -> list:
    """Its journal is not replayed: each attempt runs its steps anew."""
    seen = await ctx.run_typed("count", attempt, RunOptions(), ctx, "run")
    if attempt(ctx, "handler") < 3:
        raise ValueError("once more")
    return [seen]


keys = [os.environ["IDENTITY_KEY"]] if "IDENTITY_KEY" in os.environ else None
app = restate.app([service, waits, hidden, item, lazy, flow, starter, afresh], identity_keys=keys)

if __name__ == "__main__" and mode == "h1":
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
elif __name__ == "__main__":
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind, config.h2_max_concurrent_streams = [f"127.0.0.1:{port}"], 2147483647
    asyncio.run(serve(app, config))
