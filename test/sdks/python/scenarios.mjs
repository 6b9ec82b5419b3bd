// What is done with the handlers of services.py and keyed.py, by name.
import {
  awakeable,
  deployment,
  exclusive,
  failing,
  idempotent,
  inStep,
  large,
  operated,
  outputs,
  pauseAndResume,
  pauses,
  queue,
  register,
  scoped,
  told,
  verb,
  workflow,
} from "./acts.mjs";

export const scenarios = {
  "registers": register,
  "what it says of a service": deployment("PyService"),
  "what it says of an object": deployment("PyObject"),
  "what it says of a lazy object": deployment("PyLazy"),
  "what it says of a workflow": deployment("PyFlow"),
  "openapi": async (world) => {
    const { paths } = (await world.admin("GET", "/services/PyService/openapi")).body;
    const plain = JSON.stringify(paths).replace(/\/(svc|restate)\//g, "/");
    return Object.entries(JSON.parse(plain)).map((
      [path, verbs],
    ) => [
      path,
      ...Object.entries(verbs).map((
        [verb, it],
      ) => [verb, it.operationId, it.requestBody ?? null, it.responses[200].content ?? null]),
    ]).sort();
  },
  "echo": told("PyService/echo", "hé"),
  "echo of nothing": told("PyService/echo"),
  "a wrong type of input": told("PyService/echo", new Uint8Array([1]), {
    "content-type": "text/plain",
  }),
  "input that is no JSON": async (world) =>
    world.seen(await world.call("PyService/point", { x: "not a number" })),
  "bytes": told("PyService/raw", new Uint8Array([97, 98, 99]), {
    "content-type": "application/octet-stream",
  }),
  "a serde of one's own": told("PyService/shout", new Uint8Array([33, 97]), {
    "content-type": "text/plain",
  }),
  "a model": told("PyService/point", { x: 1, y: 2 }),
  "nothing": told("PyService/nothing"),
  "something for nothing": told("PyService/nothing", "something"),
  "a private handler": told("PyService/renamed"),
  "a private service": told("PyHidden/whisper", "x"),
  "the request": told("PyService/request", undefined, { "x-mine": "me" }),
  "steps": told("PyService/steps", 3),
  "a step that fails twice": told("PyService/flaky", 2),
  "a step that gives up": told("PyService/flaky", 100),
  "a step that gives up, uncaught": told("PyService/gives_up"),
  "a step that fails for good": told("PyService/terminal_step"),
  "a step that says when to retry": told("PyService/later_step"),
  "a terminal error with metadata": told("PyService/teapot"),
  "a handler that stumbles": told("PyService/stumbles", 3),
  "a handler that says when to retry": told("PyService/later"),
  "attempts that are used up, killed": told("PyService/doomed"),
  "attempts that are used up, paused": pauses,
  "a failure as it is shown": failing,
  // A step is only over in the next attempt where nothing streams, and that one does it again.
  "no replay": (world) => world.oneWay ? null : world.told("PyAfresh/again"),
  "idempotency": idempotent,
  "output and attach": outputs,
  "sleeps": told("PyWaits/naps", 700),
  "chance is the same again": told("PyWaits/chance"),
  "calls": told("PyWaits/calls", "you"),
  "a call of nobody": operated("PyWaits/unknown", "x", async (world, id) => {
    await world.sleep(200);
    return verb(world, id, "kill");
  }, 1),
  "sends": told("PyWaits/sends"),
  "200 calls": async (world) => (await world.call("PyWaits/fan", 200)).body,
  "50 steps": async (world) => (await world.call("PyWaits/fan_runs", 50)).body,
  "races": told("PyWaits/races"),
  "an awakeable resolved by a handler": told("PyWaits/awakes", { value: { a: 1 }, delay: 600 }),
  "an awakeable resolved at once": told("PyWaits/awakes", { value: { a: 1 } }),
  "an awakeable rejected by a handler": told("PyWaits/awakes", {
    reject: "no",
    code: 422,
    delay: 300,
  }),
  "an awakeable resolved by the world": (world) =>
    awakeable(
      world,
      (name) => world.ingress("POST", `/${world.prefix}/awakeables/${name}/resolve`, { v: 1 }),
    ),
  "an awakeable rejected by the world": (world) =>
    awakeable(
      world,
      (name) =>
        world.ingress(
          "POST",
          `/${world.prefix}/awakeables/${name}/reject`,
          new TextEncoder().encode("sorry"),
          { "content-type": "text/plain" },
        ),
    ),
  "a signal": told("PyWaits/signaled", { value: { b: 2 } }),
  "a signal that rejects": told("PyWaits/signaled", { reject: "nay", code: 410 }),
  "a scope": scoped,
  "cancels from a handler": told("PyWaits/cancels", "cTAG"),
  "state, eager": told("PyObject/eTAG/eager_tour"),
  "state, lazy": told("PyObject/lTAG/lazy_tour"),
  "state of a lazy object": told("PyLazy/lTAG/some_tour"),
  "state again, eager": told("PyObject/eTAG/eager_tour"),
  "objects that call": told("PyObject/rTAG/relay", 3),
  "exclusive": exclusive,
  "a queue": queue,
  "large": large,
  "a workflow": workflow,
  "a workflow by a handler": told("PyStarter/sTAG/start", "in"),
  "canceled": operated("PyWaits/compensates", "undo", (world, id) => verb(world, id, "cancel")),
  "canceled with its callee": operated("PyWaits/waits_callee", "callee", async (world, id) => {
    await world.sleep(500);
    return verb(world, id, "cancel");
  }),
  "killed": operated("PyWaits/compensates", "undo", (world, id) => verb(world, id, "kill")),
  "paused, resumed, canceled": operated("PyWaits/compensates", "undo", pauseAndResume),
  "canceled while it waits for a signal": operated(
    "PyWaits/waits_signal",
    "go",
    async (world, id) => {
      await world.sleep(500);
      return verb(world, id, "cancel");
    },
    1,
  ),
  "canceled in a step": inStep("cancel"),
  "killed in a step": inStep("kill"),
  "the client of the SDK": (world) => world.client(),
};
