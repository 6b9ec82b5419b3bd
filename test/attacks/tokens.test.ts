import { fuzzesWithTokens } from "./_fuzzed_with_tokens.ts";

fuzzesWithTokens("node");
