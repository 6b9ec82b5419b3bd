import { conformance } from "./_suite.ts";

await conformance("deno-sqld");
