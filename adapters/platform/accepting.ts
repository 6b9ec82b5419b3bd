import { setImmediate } from "node:timers";

/**
 * Most turns of the event loop in a row that only accept connections. Clients may connect without end, and
 * those that are connected already wait meanwhile (docs/decisions/089-connections-before-work.md).
 */
const TURNS_MAX = 64;

let calls: (() => void)[] = [];
let isFresh = false;
let turns = 0;

/** Says that a connection was accepted, or refused because too many are open, in this turn. */
export function accepted(): void {
  isFresh = true;
}

/**
 * Runs `call` once the input that has already arrived was read, and connections that wait were
 * accepted. Node accepts one connection in each turn of its event loop (libuv since 1.45), however
 * many wait, so as long as each turn brings one, the loop turns without doing anything else, at most
 * `TURNS_MAX` times. Calls run in the order in which they were handed over.
 */
export function afterAccepting(call: () => void): void {
  if (calls.push(call) === 1) setImmediate(runOrAccept);
}

function runOrAccept(): void {
  const mayAccept = isFresh && turns < TURNS_MAX;
  isFresh = false;
  if (mayAccept) {
    turns++;
    setImmediate(runOrAccept);
    return;
  }
  turns = 0;
  const due = calls;
  calls = [];
  let done = 0;
  try {
    while (done < due.length) due[done++]!();
  } finally {
    // One threw, which not every process ends with. The others run nevertheless, and in their order.
    if (done < due.length) {
      if (calls.length === 0) setImmediate(runOrAccept);
      calls.unshift(...due.slice(done));
    }
  }
}
