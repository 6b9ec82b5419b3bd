// The client of attempts as the server has it (`src/http2` on a socket), for programs outside of the build.
import { bundle } from "./_bundle.mjs";

/** Builds the client into `folder` and opens it. */
export async function openDial(folder) {
  const { nodeDial } = await import(bundle("adapters/dial/dial.ts", folder));
  return nodeDial();
}
