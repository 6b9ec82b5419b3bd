import "./node/start_ahead.ts";
import process from "node:process";
import { installBridge, nodeReader } from "./node/bridge.ts";
import { bindCheaply } from "./node/cheap_bind.ts";
import { canReusePorts } from "./node/reuse_ports.ts";
import { compressing } from "./node/compress.ts";
import { nodePost } from "./libsql/remote/node_post.ts";
import { listen } from "./node/listen.ts";
import { serve } from "./server/serve.ts";

bindCheaply(process.versions.node);
installBridge();
await serve({
  listen,
  isCounting: true,
  reader: nodeReader,
  entry: import.meta.url,
  sharesPorts: process.platform === "linux" && canReusePorts(process.versions.node),
  post: nodePost,
  aroundAdmin: compressing,
});
