import { installBridge, nodeReader } from "./node_bridge.ts";
import { listen } from "./node_http.ts";
import { serve } from "./serve.ts";

installBridge();
await serve({ listen, reader: nodeReader });
