import process from "node:process";

/** The variable by which the process that starts a server asks for it. */
export const END_WITH_INPUT = "PERDURE_END_WITH_INPUT";

/**
 * Where the variable is set, ends this process in order (as SIGTERM does) when its standard input is
 * closed: by the process that started it, or because that one was killed and could signal nothing.
 */
export function endWithInput(): void {
  if (process.env[END_WITH_INPUT] !== "1") return;
  // Processes that the server starts have other inputs.
  delete process.env[END_WITH_INPUT];
  const end = () => {
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(0);
  };
  process.stdin.once("end", end).once("error", end).resume();
}
