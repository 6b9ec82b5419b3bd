import { expect, test } from "vitest";
import { between } from "./_places.ts";

/**
 * Messages between two partitions (decision 031). Read each golden file like a play: `a` is partition
 * 0 and `b` partition 1, where `counter/bob` is; `counter/eve` is in 0. `npx vitest run test/engine -u` rewrites them.
 */
const plays: Record<string, string> = {
  call_elsewhere: `
    # The callee runs there; its answer comes back as another message, and the caller goes on.
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 call:1:2:counter/bob/add
    at 2 end a1#1 suspended:2@3
    at 3 bring a>b 1
    at 4 acknowledge a>b 1
    at 5 hear x1#1 0 out:5
    at 6 end x1#1 ended
    at 7 bring b>a 1
    at 8 acknowledge b>a 1
    at 9 hear a1#2 0 out:done
    at 10 end a1#2 ended`,
  send_elsewhere: `
    # Nobody waits for it. The delayed one is due by the clock of where it runs.
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 send:1:0:counter/bob/add send:2:500:counter/bob/add
    at 2 bring a>b 1-2
    at 500 timer x2 500/start/0`,
  signals_elsewhere: `
    # To one who waits, to one who has not begun, and to nobody.
    at 0 invoke b1 greeter/hi
    at 1 end b1#1 suspended:s17@1
    at 2 invoke a1 greeter/hi
    at 3 hear a1#1 0 tell:b1:17:yes tell:b1:go:on tell:b9:17:no tell:a2:17:here
    at 4 bring a>b 1-3`,
  cancel_elsewhere: `
    at 0 invoke b1 greeter/hi
    at 1 end b1#1 suspended:2@1
    at 2 invoke a1 greeter/hi
    at 3 hear a1#1 0 tell:b1:1
    at 4 bring a>b 1`,
  attach_elsewhere: `
    # One who runs, one who is unknown, and one who has its result already; waiting or not.
    at 0 invoke b1 greeter/hi
    at 1 invoke a1 greeter/hi
    at 2 hear a1#1 0 attach:1:b1 output:2:b1 attach:3:b9
    at 3 bring a>b 1-3
    at 4 bring b>a 1-2
    at 5 hear b1#1 0 out:done
    at 6 end b1#1 ended
    at 7 hear a1#1 3 output:4:b1
    at 8 bring a>b 4
    at 9 bring b>a 3-4`,
  workflow_elsewhere_runs_once: `
    # The second caller hears at once that it was taken before.
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 call:1:2:flow/bob/run call:3:4:flow/bob/run
    at 2 bring a>b 1
    at 3 bring a>b 2
    at 4 bring b>a 1`,
  kill_across: `
    # A child elsewhere, and its child, which is where the first one was.
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 call:1:2:counter/bob/add
    at 2 bring a>b 1
    at 3 hear x1#1 0 call:1:2:counter/eve/add send:3:0:counter/bob/add
    at 4 bring b>a 1
    at 5 operate a1 kill
    at 6 bring a>b 2
    at 7 bring b>a 2-3`,
  kill_arrives_before_start: `
    # One batch brings a call that must queue, and the kill: no trace is left.
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 call:1:2:counter/bob/add
    at 2 bring a>b 1
    at 3 invoke a2 greeter/hi
    at 4 hear a2#1 0 call:1:2:counter/bob/add
    at 5 operate a2 kill
    at 6 bring a>b 2-3`,
  batch_comes_twice: `
    # The second time brings nothing, and is answered all the same.
    at 0 invoke b1 greeter/hi
    at 1 invoke a1 greeter/hi
    at 2 hear a1#1 0 tell:b1:17:one tell:b1:18:two
    at 3 bring a>b 1-2
    at 4 bring a>b 1-2
    at 5 bring a>b 1`,
  batch_begins_with_known_messages: `
    # Only what is new is applied.
    at 0 invoke b1 greeter/hi
    at 1 invoke a1 greeter/hi
    at 2 hear a1#1 0 tell:b1:17:one tell:b1:18:two tell:b1:19:three
    at 3 bring a>b 1-2
    at 4 bring a>b 2-3`,
  batch_with_a_gap: `
    # What is before it has not come: nothing is taken, and said so.
    at 0 invoke b1 greeter/hi
    at 1 invoke a1 greeter/hi
    at 2 hear a1#1 0 tell:b1:17:one tell:b1:18:two tell:b1:19:three
    at 3 bring a>b 2-3
    at 4 bring a>b 1
    at 5 bring a>b 3
    at 6 bring a>b 2-3`,
  acknowledged_rows_go: `
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 tell:b1:17:one tell:b1:18:two tell:b1:19:three
    at 2 acknowledge a>b 1-2
    at 3 hear a1#1 3 tell:b1:20:four
    at 4 acknowledge a>b 3-4`,
  each_pair_counts_for_itself: `
    # What is taken and what is sent are counted in one row, in one turn.
    at 0 invoke a1 greeter/hi
    at 1 hear a1#1 0 attach:1:b9 tell:b9:17:x
    at 2 bring a>b 1-2
    at 3 bring b>a 1
    at 4 hear a1#1 2 tell:b9:17:y
    at 5 bring a>b 3`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(between(2, plays[name] ?? "")).toMatchFileSnapshot(`golden/between/${name}.txt`);
});
