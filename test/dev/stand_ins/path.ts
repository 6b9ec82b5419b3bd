/** Of `@std/path`, what `adapters/dev_server.ts` asks of it. */
export { fileURLToPath as fromFileUrl } from "node:url";
export { join, sep as SEPARATOR } from "node:path";
