import { defineConfig } from "vitest/config";
import LongestFirst from "./sequencer.ts";

/** For a run of all tests. Single files run without it. */
export default defineConfig({ test: { sequence: { sequencer: LongestFirst } } });
