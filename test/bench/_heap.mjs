// Loaded into a server by `--expose-gc --import`: at SIGUSR2 it collects garbage, and writes what is left
// in memory into the file that HEAP_FILE names.
import fs from "node:fs";

process.on("SIGUSR2", () => {
  // The second one takes what the finalizers of the first one have let go of.
  globalThis.gc();
  globalThis.gc();
  const file = process.env.HEAP_FILE;
  fs.writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
  fs.renameSync(`${file}.new`, file);
});
