import { fuzzes } from "./_fuzzed.ts";

fuzzes("node");
