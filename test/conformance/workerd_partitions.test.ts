import { conformance } from "./_suite.ts";

await conformance("workerd-durable-objects");
