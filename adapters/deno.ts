import { denoReader, listen } from "./deno/listen.ts";
import { nodeReader } from "./node/bridge.ts";
import { compressing } from "./node/compress.ts";
import { listen as listenByNode } from "./node/listen.ts";
import { serve } from "./server/serve.ts";

await serve({
  entry: import.meta.url,
  // `reusePort` ends a process of Deno that was started without `--unstable-net`.
  sharesPorts: false,
  // `Deno.serve` compresses by itself. It can neither change its certificate nor ask for one.
  listen: (options) =>
    options.tls
      ? listenByNode({ ...options, handler: compressing(options.handler) })
      : listen(options),
  reader: {
    ...denoReader,
    address: (request) => denoReader.address?.(request) ?? nodeReader.address?.(request),
  },
});
