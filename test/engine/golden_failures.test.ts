import { expect, test } from "vitest";
import { transcript } from "./transcript.ts";

/** Plays about attempts that fail, as in `golden.test.ts`. */
const plays: Record<string, string> = {
  retries_then_kill: `
    at 0 invoke i1 fragile/kill
    at 1 end i1#1 failed
    at 501 timer i1 501/retry/0
    at 502 end i1#2 failed`,
  restart_of_one_never_bound: `
    # It failed before it was bound to a deployment: there is no prefix to keep, and any may be chosen.
    at 0 invoke i1 fragile/kill
    at 1 end i1#1 failed
    at 501 timer i1 501/retry/0
    at 502 end i1#2 failed
    at 503 operate i1 restart i5 from=1
    at 504 operate i1 restart i6 dp_9
    at 505 operate i1 restart i7 dp_1
    at 506 end i7#1 failed!pause
    at 507 operate i7 resume dp_1`,
  retries_then_pause: `
    at 0 invoke i1 brittle/pause
    at 1 end i1#1 failed`,
  failures_are_noted: `
    # Once for as long as nobody comes further or has it start anew; they go with the journal.
    at 0 invoke i1 greeter/hi
    at 1 end i1#1 failed
    at 501 timer i1 501/retry/0
    at 502 end i1#2 failed
    at 1502 timer i1 1502/retry/0
    at 1503 end i1#3 ended
    at 3503 timer i1 3503/retry/0
    at 3504 hear i1#4 0 run:1
    at 3505 end i1#4 ended
    at 7505 timer i1 7505/retry/0
    at 7506 end i1#5 failed:7000
    at 14506 timer i1 14506/retry/0
    at 14507 end i1#6 failed:7000
    # A resume makes the next retry early, and is no new start.
    at 14508 operate i1 resume
    at 14509 end i1#7 failed!unreached
    at 14510 operate i1 pause
    at 14511 operate i1 resume
    at 14512 end i1#8 failed!unreached
    at 15012 timer i1 15012/retry/0
    at 15013 end i1#9 failed!unreached
    at 15014 operate i1 kill
    at 15015 operate i1 purge`,
  retry_after_uses_no_attempt: `
    at 0 invoke i1 brittle/pause
    at 1 end i1#1 failed:7000
    at 7001 timer i1 7001/retry/0`,
  end_without_output: `
    at 0 invoke i1 greeter/hi
    at 1 end i1#1 ended`,
  failed_attempts_leave_a_trace: `
    # Kept over retries and a pause; what was not heard does not overwrite what was.
    at 0 invoke i1 greeter/hi
    at 1 end i1#1 failed at=0/dp_1/sdk
    at 501 timer i1 501/retry/0
    at 502 end i1#2 failed!unreached at=501/dp_2
    at 503 operate i1 resume
    at 504 end i1#3 failed at=503
    at 505 operate i1 pause
    at 506 operate i1 resume
    at 507 end i1#4 failed at=506/dp_2/sdk
    at 1007 timer i1 1007/retry/0
    at 1008 hear i1#5 0 run:1
    at 1009 end i1#5 failed!pause at=1008/dp_2/sdk
    at 1010 operate i1 resume
    at 1011 end i1#6 ended at=1010/dp_2/sdk
    at 1511 timer i1 1511/retry/0
    at 1512 hear i1#7 0 sleep:1:2000
    at 1513 end i1#7 suspended:1@3
    at 2000 timer i1 2000/sleep/1
    at 2001 end i1#8 failed at=2000/dp_2/sdk
    at 2002 operate i1 kill`,
  error_behavior_fails: `
    at 0 invoke i1 greeter/hi
    at 1 end i1#1 failed!fail`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(transcript(plays[name] ?? "")).toMatchFileSnapshot(`golden/${name}.txt`);
});
