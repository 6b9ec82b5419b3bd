import process from "node:process";
import { installBridge, nodeReader } from "./node_bridge.ts";
import { bindCheaply } from "./node_bind.ts";
import { compressing } from "./node_compress.ts";
import { nodePost } from "./libsql_remote_node.ts";
import { listen } from "./node_http.ts";
import { serve } from "./serve.ts";

bindCheaply(process.versions.node);
installBridge();
await serve({
  listen,
  isCounting: true,
  reader: nodeReader,
  post: nodePost,
  aroundAdmin: compressing,
});
