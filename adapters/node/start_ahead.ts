import { isMainThread } from "node:worker_threads";
import { startThreadAhead } from "../libsql/file/thread_ahead.ts";

/**
 * Imported first of all by the program of Node, for its effect: the thread of the database starts while the
 * other modules are loaded.
 */
if (isMainThread) startThreadAhead(new URL("./libsql_worker.mjs", import.meta.url));
