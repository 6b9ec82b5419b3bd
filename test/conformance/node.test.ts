import { conformance } from "./_suite.ts";

conformance({ runtime: "node" });
