import { expect, test, vi } from "vitest";
import { Failure, Untaken } from "../../src/errors.ts";
import type { OnLeave } from "../../src/ports.ts";
import { PortRpc, type Serve } from "../../src/placement/port_rpc.ts";

const NOTHING: Serve = () => Promise.resolve();

/** Two ends, of which the second one serves. `messages`: how many were sent. */
function connected(serve: Serve) {
  const state = { messages: 0 };
  const log = vi.fn();
  const ends: PortRpc[] = [];
  const end = (at: number, served: Serve) =>
    new PortRpc({
      serve: served,
      soon: (call) => queueMicrotask(call),
      log,
      port: {
        postMessage: (message) => {
          state.messages++;
          const bytes = structuredClone(message);
          queueMicrotask(() => ends[1 - at]?.receive(bytes));
        },
      },
    });
  ends.push(end(0, NOTHING), end(1, serve));
  const [here, there] = ends as [PortRpc, PortRpc];
  return { here, there, state, log };
}

test("what is asked at once goes in one message, and its bytes arrive", async () => {
  const { here, state } = connected((method, args) => Promise.resolve({ method, args }));
  const asked = [1, 2, 3].map((n) => here.ask("echo", [n, Uint8Array.of(n, n)]));
  expect(await Promise.all(asked)).toEqual(
    [1, 2, 3].map((n) => ({ method: "echo", args: [n, Uint8Array.of(n, n)] })),
  );
  expect(state.messages).toBe(2);
});

test("an answer may be nothing", async () => {
  const { here } = connected(NOTHING);
  expect(await here.ask("nothing")).toBeUndefined();
});

test("failures keep their kind, and other errors are logged and say nothing", async () => {
  const causes: Record<string, Error> = {
    coded: new Failure("RT0028", "a row is damaged"),
    untaken: new Untaken("the partition is starting"),
    bug: new TypeError("x is secret"),
  };
  const { here, log } = connected((method) => Promise.reject(causes[method]));
  await expect(here.ask("coded")).rejects.toMatchObject({ code: "RT0028" });
  await expect(here.ask("untaken")).rejects.toBeInstanceOf(Untaken);
  await expect(here.ask("bug")).rejects.toMatchObject({
    status: 500,
    message: "internal server error",
  });
  expect(log).toHaveBeenCalledOnce();
});

test("who leaves waits no longer, and the other end hears of it", async () => {
  let hasLeft = false;
  const { here } = connected((_, __, onLeave) =>
    new Promise((resolve) =>
      onLeave(() => {
        hasLeft = true;
        resolve(undefined);
      })
    )
  );
  let leave = () => {};
  const onLeave: OnLeave = (call) => leave = call;
  const asked = here.ask("wait", [], onLeave);
  await Promise.resolve().then(() => {}).then(leave);
  await expect(asked).rejects.toMatchObject({ status: 499 });
  await vi.waitFor(() => expect(hasLeft).toBe(true));
});

test("a port that is closed answers no more, and gives up what it served", async () => {
  let hasLeft = false;
  const { here, there } = connected((_, __, onLeave) => {
    onLeave(() => hasLeft = true);
    return new Promise(() => {});
  });
  const asked = here.ask("wait");
  await new Promise((resolve) => setTimeout(resolve));
  here.close();
  there.close();
  await expect(asked).rejects.toMatchObject({ status: 503 });
  await expect(here.ask("wait")).rejects.toMatchObject({ status: 503 });
  expect(hasLeft).toBe(true);
});
