import { listen } from "./deno/listen.ts";
import { serve } from "./server/serve.ts";

await serve({ listen });
