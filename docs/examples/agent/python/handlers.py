"""The handlers of handlers.ts in Python: hypercorn handlers:app --bind 127.0.0.1:9080"""

import restate
from restate import Workflow, WorkflowContext, WorkflowSharedContext

# Nobody but a human lets the agent spend money.
NEEDS_APPROVAL = ["book"]
MOVES_MAX = 20

agent = Workflow("Agent")
tools = {
    "findFlight": lambda city: f"flight F7 to {city}",
    "book": lambda flight: f"booked {flight}",
}


def model(conversation: list) -> dict:
    """Stands in for a language model: it gets the conversation, and answers with its next move."""
    heard = [text for role, text in conversation if role == "tool"]
    said = [text for role, text in conversation if role == "agent"]
    if len(heard) == 0:
        return {"tool": "findFlight", "input": conversation[0][1]}
    if len(heard) == 1:
        return {"tool": "book", "input": heard[0]}
    return [{"say": "Here is what I did:"}, {"say": f"{heard[1]}."}, {"done": True}][len(said)]


def use(tool: str, input: str) -> str:
    return tools[tool](input) if tool in tools else f"There is no tool {tool}"


class Shown:
    """What callers read: what the agent says and does, and approvals that it waits for."""

    def __init__(self, ctx: WorkflowContext):
        self.ctx, self.parts = ctx, 0

    async def show(self, text: str, **more) -> None:
        await self.ctx.promise(f"part {self.parts}").resolve({"text": text, **more})
        self.parts += 1


async def used(ctx: WorkflowContext, shown: Shown, tool: str, input: str) -> str:
    if tool in NEEDS_APPROVAL:
        # The id of the awakeable that a human resolves with true or false.
        approval, answer = ctx.awakeable(type_hint=bool)
        await shown.show(f"May I use {tool}: {input}?", approval=approval)
        if not await answer:
            return f"was not allowed to {tool}"
    else:
        await shown.show(f"{tool}: {input}")
    return await ctx.run_typed(tool, use, tool=tool, input=input)


@agent.main()
async def run(ctx: WorkflowContext, task: str) -> str:
    conversation, shown = [("user", task)], Shown(ctx)
    for _ in range(MOVES_MAX):
        move = await ctx.run_typed("model", model, conversation=conversation)
        if "done" in move:
            break
        if "say" in move:
            conversation.append(("agent", move["say"]))
            await shown.show(move["say"])
        else:
            text = await used(ctx, shown, move["tool"], move["input"])
            conversation.append(("tool", text))
    await shown.show("", isLast=True)
    return " ".join(text for role, text in conversation if role == "agent")


@agent.handler()
async def read(ctx: WorkflowSharedContext, at: int) -> dict:
    """The part of this number, as soon as there is one."""
    return await ctx.promise(f"part {at}", type_hint=dict).value()


app = restate.app([agent])
