// Handlers of the semantic workloads, with the SDK of the folder it runs in. Usage:
//   node semantics_services.mjs PORT [h2|h1]
import http from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Caller } from "./_caller.mjs";

const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const restate = await import(pathToFileURL(require.resolve("@restatedev/restate-sdk")).href);
const port = Number(process.argv[2]);
const mode = process.argv[3] ?? "h2";

/** Connections that wait for the next awakeable, by server. */
const idle = new Map();

async function post(url, body) {
  const { origin, pathname } = new URL(url);
  const callers = idle.get(origin) ?? [];
  idle.set(origin, callers);
  const caller = callers.pop() ?? new Caller(origin);
  const status = await caller.post(pathname, body).catch((cause) => cause.message);
  if (status >= 200 && status < 300) callers.push(caller);
  else {
    console.error(`${url}: ${status}`);
    caller.close();
  }
}

const bench = restate.service({
  name: "Semantics",
  handlers: {
    echo: async (_ctx, value) => value,
    // `awakeables`: the address of the server's awakeables. Somebody outside resolves this one over
    // HTTP; that it is this process saves telling another one its id.
    wait: async (ctx, awakeables) => {
      const { id, promise } = ctx.awakeable();
      post(`${awakeables}/${id}/resolve`, "1");
      return await promise;
    },
  },
});

const flow = restate.workflow({
  name: "SemanticsFlow",
  handlers: {
    run: async (ctx) => await ctx.promise("go"),
    go: restate.handlers.workflow.shared(async (ctx, value) => {
      await ctx.promise("go").resolve(value);
    }),
  },
});

/** A document of `size` bytes: each call reads the one before and writes another. */
const documents = restate.object({
  name: "Document",
  handlers: {
    edit: async (ctx, size) => {
      const edits = ((await ctx.get("document"))?.edits ?? 0) + 1;
      ctx.set("document", { edits, text: "x".repeat(size) });
      return edits;
    },
  },
});

const sized = restate.service({
  name: "Sized",
  handlers: {
    steps: async (ctx, size) => {
      for (let i = 0; i < 3; i++) await ctx.run(`step ${i}`, () => "x".repeat(size));
      return size;
    },
  },
});

let ticks = 0;
const limited = restate.service({
  name: "Limited",
  handlers: {
    tick: async () => void ticks++,
    ticks: async () => ticks,
    // Holds its slot: for longer than any measurement, without a command that could suspend it.
    hold: async () => await new Promise(() => {}),
  },
});

const services = [bench, flow, documents, sized, limited];
if (mode === "h2") {
  await restate.serve({ services, port });
} else {
  const handler = restate.createEndpointHandler({ services, bidirectional: false });
  http.createServer(handler).listen(port);
}
console.log(`ready ${port} ${mode}`);
