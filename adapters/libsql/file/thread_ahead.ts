import { Worker } from "node:worker_threads";

/** The thread that was started ahead, until it is taken. */
let ahead: { readonly thread: Worker; readonly program: string } | undefined;

/**
 * Starts the thread of a database before it is known which database. A thread takes some 70 ms to start,
 * which is as long as the rest of the program takes to load (docs/benchmarks.md). It keeps no process alive.
 * Returns the thread, which `databaseThread` hands out once.
 */
export function startThreadAhead(program: URL): Worker {
  const thread = new Worker(program);
  thread.unref();
  ahead = { thread, program: program.href };
  // One that cannot start is not taken: a new one then says why. An error that nobody hears ends the process.
  thread.on("error", () => {});
  thread.once("exit", () => {
    if (ahead?.thread === thread) ahead = undefined;
  });
  return thread;
}

/** The thread that was started ahead, if it runs `program`, or a new one. */
export function databaseThread(program: URL): Worker {
  const found = ahead?.program === program.href ? ahead.thread : undefined;
  if (!found) return new Worker(program);
  ahead = undefined;
  found.ref();
  return found;
}

/** Ends the thread that was started ahead, unless it was taken: the database needs none. */
export async function endThreadAhead(): Promise<void> {
  await ahead?.thread.terminate();
  ahead = undefined;
}
