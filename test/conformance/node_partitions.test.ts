import { conformance } from "./_suite.ts";

await conformance("node-file-partitions");
