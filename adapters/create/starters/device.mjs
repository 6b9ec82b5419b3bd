import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { start, until } from "./server.mjs";

let running;
before(async () => void (running = await start()));
after(() => running?.stop());

test("a device is counted while it measures, and is offline when it has sent nothing", async () => {
  deepEqual(await running.call("Device/one/measured", 21.5), { count: 1, isOnline: true });
  deepEqual(await running.call("Device/one/measured", 22), { count: 2, isOnline: true });
  const status = await until(
    () => running.call("Device/one/status"),
    ({ isOnline }) => !isOnline,
  );
  deepEqual(status, { count: 2, isOnline: false });
});

test("each device has a count of its own", async () => {
  deepEqual(await running.call("Device/two/measured", 7), { count: 1, isOnline: true });
});
