import process from "node:process";
import { apiVersions } from "../../src/admin/version.ts";
import { PROTOCOL_MAX, PROTOCOL_MIN } from "../../src/model/protocol.ts";
import { FORMAT_VERSION } from "../../src/storage/schema/migrations.ts";
import { VERSION } from "../platform/version.ts";
import type { Given } from "./about.ts";
import { print } from "./output.ts";

/** `perdure version`: of this program, not of a server. */
export function version(_: Given, isJson: boolean): Promise<void> {
  const deno = process.versions["deno"];
  const result = {
    version: VERSION,
    runtime: deno === undefined ? `node ${process.versions.node}` : `deno ${deno}`,
    data_format: FORMAT_VERSION,
    service_protocol: { min: PROTOCOL_MIN, max: PROTOCOL_MAX },
    admin_api: apiVersions,
  };
  print(isJson, result, () =>
    [
      `perdure ${VERSION} on ${result.runtime}`,
      `data format ${FORMAT_VERSION}, service protocol ${PROTOCOL_MIN} to ${PROTOCOL_MAX}, ` +
      `admin API ${apiVersions.min} to ${apiVersions.max}`,
    ].join("\n"));
  return Promise.resolve();
}
