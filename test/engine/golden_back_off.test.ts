import { expect, test } from "vitest";
import { transcript } from "./transcript.ts";

/** Plays about attempts that fail, and starts that come due, while others wait: as in `golden_flow.test.ts`. */
const plays: Record<string, string> = {
  kill_of_one_in_a_short_back_off: `
    # It holds its slot meanwhile, and gives it back at once. Its timer is void.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 3 operate i1 kill
    at 4 grant i2
    at 502 timer i1 502/retry/0
    at 503 invoke i3 blue:greeter/hi`,
  cancel_of_one_in_a_short_back_off: `
    # It is told at its next attempt, for which it keeps its slot.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 3 operate i1 cancel
    at 502 timer i1 502/retry/0
    at 503 end i1#2 failed!fail
    at 504 grant i2`,
  resume_of_one_in_a_short_back_off: `
    # Its attempt comes early in the slot that it holds. Its timer is void.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 3 operate i1 resume
    at 502 timer i1 502/retry/0
    at 503 end i1#2 failed!fail
    at 504 grant i2`,
  delayed_send_comes_due_in_a_full_scope: `
    # It takes no slot before its time. Then it waits behind those that came into the queue before.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi after=10
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:greeter/hi
    at 10 timer i1 10/start/0
    at 11 end i2#1 failed!fail
    at 12 grant i3
    at 13 end i3#1 failed!fail
    at 14 grant i1`,
  retries_used_up_and_paused_in_a_scope: `
    # The slot is free for the next; a resume waits for one.
    at 0 limit blue 1
    at 0 invoke i1 blue:brittle/pause
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 3 grant i2
    at 4 operate i1 resume
    at 5 end i2#1 failed!fail
    at 6 grant i1`,
  retries_used_up_and_killed_in_a_scope: `
    at 0 limit blue 1
    at 0 invoke i1 blue:fragile/kill
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 502 timer i1 502/retry/0
    at 503 end i1#2 failed
    at 504 grant i2`,
  long_retry_after_in_a_scope: `
    # It gives its slot back, and waits for one when its time has come.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed:7000
    at 3 grant i2
    at 7002 timer i1 7002/retry/0
    at 7003 end i2#1 failed!fail
    at 7004 grant i1`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(transcript(plays[name] ?? "")).toMatchFileSnapshot(`golden/${name}.txt`);
});
