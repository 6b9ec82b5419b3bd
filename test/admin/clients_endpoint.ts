import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type {
  Context,
  ObjectContext,
  ObjectSharedContext,
  WorkflowContext,
  WorkflowSharedContext,
} from "@restatedev/restate-sdk";
import { until } from "../support/child.ts";

/** The SDK needs it and Node 20 lacks it: without, every invocation hangs. */
interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason?: unknown) => void;
}
const promises = Promise as unknown as { withResolvers?: <T>() => Resolvers<T> };
promises.withResolvers ??= <T>() => {
  let [resolve, reject]: [Resolvers<T>["resolve"], Resolvers<T>["reject"]] = [() => {}, () => {}];
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
const sdk = await import("@restatedev/restate-sdk");

/** How the SDK and its clients write values. */
export const { serde } = sdk;

/** Awakeables by the name their handler was given, and steps that are to fail. */
class Board {
  readonly awakeables = new Map<string, string>();
  readonly broken = new Set<string>();
}

const LONG = { hours: 1 };
/** Long enough to look at it, short enough to see what waits suspended. */
const INACTIVITY = { milliseconds: 50 };

function plain(board: Board) {
  return sdk.service({
    name: "Greeter",
    options: { inactivityTimeout: INACTIVITY },
    handlers: {
      greet: (_ctx: Context, name: string) => Promise.resolve(`Hello ${name}`),
      nothing: () => Promise.resolve(),
      bytes: sdk.handlers.handler(
        { input: sdk.serde.binary, output: sdk.serde.binary },
        (_ctx: Context, bytes: Uint8Array) => Promise.resolve(bytes),
      ),
      headers: (ctx: Context) =>
        Promise.resolve(Object.fromEntries(ctx.request().headers) as Record<string, string>),
      refuse: (_ctx: Context, message: string): Promise<string> => {
        throw new sdk.TerminalError(message, { errorCode: 418 });
      },
      hang: (ctx: Context) => ctx.sleep(LONG, "long"),
      steps: async (ctx: Context, name: string) => {
        const first = await ctx.run("first", () => `${name} 1`);
        await ctx.sleep(1, "short");
        return `${first}, ${await ctx.run("second", () => `${name} 2`)}`;
      },
      flaky: (_ctx: Context, name: string) => {
        if (board.broken.has(name)) throw new Error(`${name} is broken`);
        return Promise.resolve(`${name} is well`);
      },
      wait: async (ctx: Context, name: string) => {
        const { id, promise } = ctx.awakeable<string>();
        await ctx.run("tell", () => void board.awakeables.set(name, id));
        return await promise;
      },
    },
  });
}

const keyed = () =>
  sdk.object({
    name: "Counter",
    options: { inactivityTimeout: INACTIVITY },
    handlers: {
      add: async (ctx: ObjectContext, delta: number) => {
        const value = (await ctx.get<number>("value") ?? 0) + delta;
        ctx.set("value", value);
        return value;
      },
      label: (ctx: ObjectContext, label: string) => Promise.resolve(ctx.set("label", label)),
      hold: (ctx: ObjectContext) => ctx.sleep(LONG, "long"),
      value: sdk.handlers.object.shared(async (ctx: ObjectSharedContext) =>
        await ctx.get<number>("value") ?? 0
      ),
    },
  });

const flow = () =>
  sdk.workflow({
    name: "Flow",
    options: { inactivityTimeout: INACTIVITY },
    handlers: {
      run: async (ctx: WorkflowContext, name: string) => {
        ctx.set("name", name);
        return `${name} ${await ctx.promise<string>("go")}`;
      },
      go: (ctx: WorkflowSharedContext, word: string) =>
        Promise.resolve(ctx.promise<string>("go").resolve(word)),
      peek: async (ctx: WorkflowSharedContext) => await ctx.get<string>("name") ?? "",
    },
  });

/** The real SDK in this process: an endpoint that every server of a test may register. */
export interface ClientEndpoint {
  readonly url: string;
  /** From now on `Greeter/flaky` fails for this name, or does no longer. */
  breaks(name: string, isBroken: boolean): void;
  /** Waits until `Greeter/wait` waits under this name, and answers its awakeable. */
  awakeable(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Listens on a free port, over HTTP/2 in cleartext. */
export async function startClientEndpoint(): Promise<ClientEndpoint> {
  const board = new Board();
  const services = [plain(board), keyed(), flow()];
  const server = createServer(sdk.createEndpointHandler({ services, logger: () => {} }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => void sessions.add(session));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    breaks: (name, isBroken) => void board.broken[isBroken ? "add" : "delete"](name),
    awakeable: async (name) => {
      await until(`an awakeable named ${name}`, () => board.awakeables.has(name));
      return board.awakeables.get(name) ?? "";
    },
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
