/** What `import … from "perdure"` gives on Node and Deno. `adapters/package/index.d.mts` are its types. */
export { type RunningServer, type ServerOptions, startServer } from "./cli/server_process.ts";
export { VERSION } from "./platform/version.ts";
