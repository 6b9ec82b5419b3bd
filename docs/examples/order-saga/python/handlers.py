"""The handlers of handlers.ts in Python: hypercorn handlers:app --bind 127.0.0.1:9080"""

import restate
from restate import Context, ObjectContext, ObjectSharedContext, Service, TerminalError, VirtualObject

stock = VirtualObject("Stock")
orders = Service("Orders")


def charge(payment: str, card: str) -> str:
    """Stands in for the API of a bank. A payment has an id, so that charging twice charges once."""
    if card == "stolen":
        raise TerminalError("The card was declined", status_code=402)
    return f"charged {card}, payment {payment[:8]}"


@stock.handler()
async def add(ctx: ObjectContext, count: int) -> int:
    left = (await ctx.get("left", type_hint=int) or 0) + count
    ctx.set("left", left)
    return left


@stock.handler()
async def reserve(ctx: ObjectContext, count: int) -> None:
    left = await ctx.get("left", type_hint=int) or 0
    if left < count:
        raise TerminalError(f"Only {left} left", status_code=409)
    ctx.set("left", left - count)


@stock.handler(kind="shared")
async def left(ctx: ObjectSharedContext) -> int:
    return await ctx.get("left", type_hint=int) or 0


@orders.handler()
async def place(ctx: Context, order: dict) -> str:
    item, count, card = order["item"], order["count"], order["card"]
    payment = str(ctx.uuid())
    undo = []
    try:
        await ctx.object_call(reserve, key=item, arg=count)
        undo.append(lambda: ctx.object_call(add, key=item, arg=count))
        receipt = await ctx.run_typed("charge", charge, payment=payment, card=card)
        return f"{count} {item}: {receipt}"
    except TerminalError:
        # Other errors are tried again. These are final: declined, canceled, thrown by a callee.
        for step in reversed(undo):
            await step()
        raise


app = restate.app([orders, stock])
