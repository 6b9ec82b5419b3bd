import { installBridge, nodeReader } from "./node_bridge.ts";
import { nodePost } from "./libsql_remote_node.ts";
import { listen } from "./node_http.ts";
import { serve } from "./serve.ts";

installBridge();
await serve({ listen, reader: nodeReader, post: nodePost });
