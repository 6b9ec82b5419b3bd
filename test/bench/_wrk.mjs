// Load by wrk, which takes less of the machine than a program in JavaScript would.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { scratch } from "./semantics_targets.mjs";

const run = promisify(execFile);
const lua = path.join(scratch, "load.lua");
fs.writeFileSync(
  lua,
  `
wrk.method = "POST"; wrk.headers["content-type"] = "application/json"
local path, body, keys = os.getenv("LOAD_PATH"), os.getenv("LOAD_BODY"), os.getenv("LOAD_KEYS")
local limit = os.getenv("LOAD_LIMIT_KEY")
if limit ~= "" then wrk.headers["x-svc-limit-key"] = limit; wrk.headers["x-restate-limit-key"] = limit end
local number, run, objects = 0, os.getenv("LOAD_RUN"), tonumber(os.getenv("LOAD_OBJECTS"))
math.randomseed(os.time())
request = function()
  number = number + 1
  if keys == "yes" then wrk.headers["idempotency-key"] = run .. "-" .. number end
  local target = path
  if objects > 0 then target = string.gsub(path, "KEY", "k" .. math.random(objects)) end
  return wrk.format(nil, target, nil, body)
end
done = function(s, l)
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p50":%.3f,"p99":%.3f,"errors":%d}\\n',
    s.requests, s.duration, l:percentile(50)/1000, l:percentile(99)/1000,
    s.errors.connect + s.errors.read + s.errors.write + s.errors.timeout + s.errors.status))
end`,
);

/**
 * One request again and again, as `ask` says of the target: `path` behind the prefix, `body`,
 * `connections`, perhaps a `limitKey`, `hasKeys` for an idempotency key each, and `objects`: KEY in the
 * path is one of so many. Takes the target and seconds; answers requests, microseconds, percentiles in milliseconds and errors.
 */
export function wrk(ask) {
  return async (target, seconds) => {
    const { path, body, connections, limitKey = "", hasKeys = false, objects = 0 } = ask(target);
    const { origin, pathname } = new URL(target.url);
    const env = {
      ...process.env,
      LOAD_PATH: `${pathname}/${path}`,
      LOAD_BODY: body,
      LOAD_KEYS: hasKeys ? "yes" : "no",
      LOAD_LIMIT_KEY: limitKey,
      LOAD_OBJECTS: String(objects),
      LOAD_RUN: `${process.pid}-${Date.now()}`,
    };
    const args = [
      "-t1",
      `-c${connections}`,
      `-d${seconds}s`,
      "--timeout",
      "30s",
      "-s",
      lua,
      origin,
    ];
    const { stdout } = await run("wrk", args, { env });
    return JSON.parse(/RESULT (.*)/.exec(stdout)[1]);
  };
}
