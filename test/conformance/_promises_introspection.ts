import { expect } from "vitest";
import { until } from "../support/child.ts";
import { ask, call, operate, query, send, value } from "../support/client.ts";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { idOf, type Promises, type World } from "./_world.ts";

/** Where an invocation stands, as a query says. */
async function statusOf({ server }: World, run: string): Promise<unknown> {
  const [row] = await query(server, `select status from sys_invocation where id = '${run}'`);
  return row?.["status"];
}

export const introspectionPromises: Promises = {
  "shows where an invocation stands": async (world) => {
    const { server, endpoint, id } = world;
    const later = idOf(await send(server, "Greeter/greet", id, { query: "delay=1h" }));
    expect(await statusOf(world, later)).toBe("scheduled");
    await operate(server, "kill", later);
    const run = idOf(await send(server, "Greeter/hang", id));
    await endpoint.happens(`${id} hang`);
    expect(await statusOf(world, run)).toBe("running");
    endpoint.release(id);
    await ask(server, `attach/${run}`);
    expect(await statusOf(world, run)).toBe("completed");
  },

  "shows who is suspended": async (world) => {
    const { server, endpoint, id } = world;
    const run = idOf(await send(server, "Greeter/nap", { id, ms: 3_600_000 }));
    await endpoint.happens(`${id} asleep`);
    await until("it", async () => await statusOf(world, run) === "suspended", 20_000);
    await operate(server, "kill", run);
  },

  "shows how an invocation ended": async ({ server, id }) => {
    const { headers } = await call(server, "Greeter/refuse", id, {
      headers: { "idempotency-key": id },
    });
    const columns = "target, completion_result, completion_failure";
    const where = `id = '${headers.get("x-svc-id")}'`;
    expect(await query(server, `select ${columns} from sys_invocation where ${where}`)).toEqual([
      {
        target: "Greeter/refuse",
        completion_result: "failure",
        completion_failure: expect.stringContaining(id),
      },
    ]);
  },

  "shows the journal of an invocation": async ({ server, id }) => {
    const { headers } = await call(server, "Greeter/steps", { id, count: 2 });
    const journal = await query(
      server,
      `select name from sys_journal
       where id = '${headers.get("x-svc-id")}' and entry_type = 'Command: Run' order by index`,
    );
    expect(journal).toEqual([{ name: "step 0" }, { name: "step 1" }]);
  },

  "shows the state of an object and the promises of a workflow": async ({ server, id }) => {
    await value(server, `Counter/${id}/add`, 3);
    const where = `service_name = 'Counter' and service_key = '${id}'`;
    expect(await query(server, `select key, value_utf8 from state where ${where}`))
      .toEqual([{ key: "value", value_utf8: "3" }]);
    await value(server, `Flow/${id}/resolve`, "now");
    const completed = `select key, completed from sys_promise where service_key = '${id}'`;
    expect(await query(server, completed)).toEqual([{ key: "go", completed: true }]);
  },

  "shows who waits for whom": async (world) => {
    const { server, endpoint, id } = world;
    const holder = idOf(await send(server, `Counter/${id}/hold`, id));
    await endpoint.happens(`${id} hold`);
    const waiting = idOf(await send(server, `Counter/${id}/add`, 1));
    try {
      expect(await query(server, `select id from sys_inbox where service_key = '${id}'`))
        .toEqual([{ id: waiting }]);
      expect(
        await query(
          server,
          `select invocation_id from sys_keyed_service_status where service_key = '${id}'`,
        ),
      ).toEqual([{ invocation_id: holder }]);
    } finally {
      // Also where queries fail: it would hold a slot while other promises count them.
      endpoint.release(id);
    }
    await ask(server, `attach/${waiting}`);
  },

  "counts and groups": async ({ server, id }) => {
    for (let i = 0; i < 3; i++) await value(server, `Counter/${id}/add`, i);
    const sql = `select target_handler_name as handler, count(*) as n from sys_invocation
      where target_service_key = '${id}' group by target_handler_name`;
    expect(await query(server, sql)).toEqual([{ handler: "add", n: 3 }]);
  },

  "shows deployments and services": async ({ server }) => {
    expect(await query(server, "select count(*) as n from sys_deployment")).toEqual([{ n: 1 }]);
    expect(await query(server, "select name, ty from sys_service where name = 'Flow'"))
      .toEqual([{ name: "Flow", ty: "workflow" }]);
  },

  "says what is wrong with a query": async ({ server }) => {
    await query(server, "select 1");
    await expect(query(server, "select nothing from nowhere")).rejects.toThrow(/ 400: .*nowhere/);
    await expect(query(server, "delete from state")).rejects.toThrow(/ [45]\d\d: /);
  },
};

export const changePromises: Promises = {
  "tells at once what has changed": async ({ server, id }) => {
    const leave = new AbortController();
    const { body, headers } = await fetch(`${server.admin}/internal/ui/events`, leave);
    expect(headers.get("content-type")).toBe("text/event-stream");
    let heard = "";
    const reading = (async () => {
      for await (const chunk of body!.pipeThrough(new TextDecoderStream())) heard += chunk;
    })().catch(() => {});
    await until("the first hint", async () => heard.includes('"all":true'));
    const runs: string[] = [];
    const isTold = () => heard.includes('"Counter"') && runs.some((run) => heard.includes(run));
    // A partition tells of changes after its first answer, and nothing shows when that was.
    await until("a hint of an invocation", async () => {
      if (!isTold()) runs.push(idOf(await send(server, `Counter/${id}/add`, 1)));
      return isTold();
    }, 20_000);
    leave.abort();
    await reading;
  },
};

export const metricsPromises: Promises = {
  "counts what was called": async ({ server, id }) => {
    const counted = async () => {
      const page = parseMetrics(await (await fetch(`${server.admin}/metrics`)).text());
      const labels = { service: "Greeter", handler: "headers", result: "success" };
      return valueOf(page, "perdure_invocations_completed_total", labels) ?? 0;
    };
    const before = await counted();
    for (let i = 0; i < 3; i++) await value(server, "Greeter/headers", id);
    expect(await counted()).toBeGreaterThanOrEqual(before + 3);
  },
};
