import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REFERENCE, startTarget, type Target, type TargetKind } from "../protocol/_target.ts";
