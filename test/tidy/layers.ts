/**
 * Who may import whom, by folder, inner to outer: a file or folder may use itself and every line
 * above its own. A name with `.ts` is a file; without, it is a folder, a file or both. The README of
 * each of these folders shows its list, and a test holds the two together.
 */
export const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "src": [
    ["refusal_codes"],
    ["error_codes"],
    ["assert", "bytes", "utf8", "slot_map", "small_map", "slices", "names", "nearest", "errors"],
    ["priority_lanes"],
    ["model"],
    ["wire"],
    ["engine"],
    ["dial", "vitals", "query_port", "kafka_port", "audit_port", "scan"],
    ["pending_exchange"],
    ["http2"],
    ["ports", "config"],
    ["watched_file", "collect", "setting_url"],
    ["observe"],
    ["auth"],
    ["storage", "outbound", "partition"],
    ["placement"],
    ["kafka"],
    ["ingress", "admin", "introspection", "ui"],
    ["app_options"],
    ["app_partitions"],
    ["app"],
  ],
  "src/storage": [
    ["codec", "retry"],
    ["overlay", "schema"],
    ["fold", "read", "large", "move"],
    ["log", "control_rows"],
    [
      "owner",
      "examine",
      "share_rows",
      "deployment_store",
      "kafka_store",
      "audit_store",
      "session_key_store",
      "memory_store",
    ],
    ["sql_store"],
    ["many_stores"],
  ],
  "adapters": [
    ["platform", "ui"],
    ["tls"],
    ["libsql", "dial"],
    ["installation"],
    ["node", "deno", "workerd", "tools", "kafka", "cli"],
    ["server", "create"],
    [
      "kafka.ts",
      "node.ts",
      "deno.ts",
      "workerd.ts",
      "dev.ts",
      "dev_server.ts",
      "main.ts",
      "cli.ts",
      "index.ts",
    ],
  ],
  "adapters/libsql": [
    ["sql_error"],
    ["file", "remote"],
    ["query"],
  ],
};

/** What lies right under `folder` on the way to `path`, as `LAYERS` names it. Undefined: nothing. */
export function placeIn(folder: string, path: string): string | undefined {
  const [, ...under] = `/${path.replaceAll("\\", "/")}`.split(`/${folder}/`);
  const name = under.at(-1)?.split("/")[0];
  if (name === undefined || rankOf(folder, name) >= 0) return name;
  return name.replace(/\.tsx?$/, "");
}

/** The number of the line of a name, 0 being the innermost. -1: it has none. */
export function rankOf(folder: string, name: string): number {
  return LAYERS[folder]?.findIndex((names) => names.includes(name)) ?? -1;
}
