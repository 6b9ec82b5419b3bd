import type { Resolve } from "../../../adapters/dial/guard.ts";

/** A resolver whose answers a test gives: the addresses of each question, the last one for ever. */
export function resolver(...answers: readonly (readonly string[])[]) {
  let asked = 0;
  const resolve: Resolve = (_name, _options, callback) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)]!;
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    setTimeout(() => callback(null, found));
  };
  return { resolve, asked: () => asked };
}
