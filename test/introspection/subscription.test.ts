import { afterAll, expect, test } from "vitest";
import { NOW, Stored } from "./_queued.ts";
import { rowsOf } from "./_small.ts";
import { Asking, Files, inFile } from "./_united.ts";

const files = new Files();
const asking = new Asking();
afterAll(async () => {
  await asking.close();
  await files.close();
});

test("an invocation of a record shows its subscription, and can be found by it", async () => {
  const stored = new Stored(), status = { kind: "invoked" } as const;
  stored.invocation({ status });
  const ids = ["sub_1a", "sub_1b"].map((id) =>
    stored.invocation({ status, row: { origin: { by: "subscription", id } } })
  );
  const source = inFile(await files.make("all.db", stored.rows()));
  const introspection = asking.open([source], { clock: { now: () => NOW } });
  const columns = "id, invoked_by, invoked_by_id, invoked_by_subscription_id";
  const where = "invoked_by_subscription_id = 'sub_1b'";
  expect(await rowsOf(introspection, `select ${columns} from sys_invocation where ${where}`))
    .toEqual([{ id: ids[1], invoked_by: "subscription", invoked_by_subscription_id: "sub_1b" }]);
  const counted = "select invoked_by, count(*) as n from sys_invocation group by 1 order by 1";
  expect(await rowsOf(introspection, counted))
    .toEqual([{ invoked_by: "ingress", n: 1 }, { invoked_by: "subscription", n: 2 }]);
});
