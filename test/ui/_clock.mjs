// A clock that goes by CLOCK_FILE: so many ms before the real one. Usage: node --import _clock.mjs …
import { readFileSync } from "node:fs";
import process from "node:process";

const behindMs = Number(readFileSync(process.env.CLOCK_FILE, "utf8"));
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() - behindMs] : given));
  }

  static now() {
    return RealDate.now() - behindMs;
  }
};
