import { listen } from "./deno_http.ts";
import { serve } from "./serve.ts";

await serve({ listen });
