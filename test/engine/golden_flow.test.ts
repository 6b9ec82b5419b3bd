import { expect, test } from "vitest";
import { transcript } from "./transcript.ts";

/** Plays about limits, rates and pauses, as in `golden.test.ts`. */
const plays: Record<string, string> = {
  limit_lets_the_next_start: `
    # First in, first out; who waits shows how long it has waited.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:greeter/hi
    at 3 hear i1#1 0 out:done
    at 4 end i1#1 ended
    at 5 grant i2
    at 6 end i2#1 failed!fail
    at 7 grant i3`,
  newcomer_does_not_overtake: `
    # While i2 has a grant, its slot is taken; i3 waits, and i2 starts.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed!fail
    at 3 invoke i3 blue:greeter/hi
    at 4 grant i2
    at 5 end i2#1 failed!fail`,
  levels_of_a_limit_key: `
    # Each level has a limit of its own: the first that is full says where it waits.
    at 0 limit blue 3
    at 0 limit blue/* 2
    at 0 limit blue/*/* 1
    at 1 invoke i1 blue:greeter/hi key=a/x
    at 2 invoke i2 blue:greeter/hi key=a/x
    at 3 invoke i3 blue:greeter/hi key=a/y
    at 4 invoke i4 blue:greeter/hi key=a/z
    at 5 invoke i5 blue:greeter/hi key=b
    at 6 invoke i6 blue:greeter/hi
    at 7 end i1#1 failed!fail
    # The slot of the scope went to i6: i2 still lacks one.
    at 8 end i5#1 failed!fail`,
  suspension_gives_the_slot_back: `
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 hear i1#1 0 sleep:1:50
    at 3 end i1#1 suspended:1@1
    at 4 grant i2
    # Awake, it waits before those that have never run.
    at 5 invoke i3 blue:greeter/hi
    at 50 timer i1 50/sleep/1
    at 51 end i2#1 failed!fail
    at 52 grant i1`,
  short_back_off_keeps_the_slot: `
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 502 timer i1 502/retry/0
    # The next one is too long.
    at 503 end i1#2 failed
    at 504 grant i2
    at 1503 timer i1 1503/retry/0
    at 1504 end i2#1 failed!fail
    at 1505 grant i1`,
  retry_makes_way_for_a_pause: `
    # What holds its slots heeds pauses only, and gives its slots back.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 end i1#1 failed
    at 2 hold service greeter
    at 501 timer i1 501/retry/0
    at 502 release service greeter
    at 503 grant i1`,
  pause_of_one_in_a_short_back_off: `
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed
    at 3 operate i1 pause
    at 4 grant i2
    at 5 operate i1 resume
    at 6 operate i2 kill
    at 7 grant i1`,
  kill_and_cancel_of_one_that_has_never_run: `
    # No record stays; an object's lock goes to the next.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:counter/bob/add
    at 3 invoke i4 blue:counter/bob/add
    at 4 operate i2 cancel
    at 5 operate i3 kill
    # Their places are void.
    at 6 end i1#1 failed!fail
    at 7 grant i2
    at 8 grant i3
    at 9 grant i4`,
  kill_and_cancel_of_one_that_has_run: `
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 hold service greeter
    at 3 end i1#1 failed
    at 4 end i2#1 failed
    at 503 timer i1 503/retry/0
    at 504 timer i2 504/retry/0
    # The cancel is told to it when it goes on.
    at 505 operate i1 cancel
    at 506 operate i2 kill
    at 507 operate i2 purge
    at 508 release service greeter
    at 509 grant i1
    at 510 grant i2`,
  pause_of_one_that_waits: `
    # Who has never run cannot be paused, restarted or resumed; who has run can be paused.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 hear i1#1 0 sleep:1:5
    at 2 end i1#1 suspended:1@1
    at 3 invoke i2 blue:greeter/hi
    at 4 invoke i3 blue:greeter/hi
    at 5 timer i1 5/sleep/1
    at 6 operate i3 pause
    at 7 operate i3 resume
    at 8 operate i3 restart i9
    at 9 operate i1 resume
    at 10 operate i1 restart i9
    at 11 operate i1 pause
    at 12 operate i1 resume
    # Its first place is void.
    at 13 end i2#1 failed!fail
    at 14 grant i1
    at 15 grant i1
    at 16 end i1#2 failed!fail
    at 17 grant i3`,
  restart_keeps_scope_and_key: `
    at 0 limit blue/* 1
    at 0 invoke i1 blue:greeter/hi key=a priority=9
    at 1 end i1#1 failed!fail
    at 2 invoke i2 blue:greeter/hi key=a
    at 3 operate i1 restart i3`,
  recovered_one_keeps_its_slot: `
    # It does not wait, though the limit was lowered; with a pause it does.
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 limit blue 1
    at 3 recover i1
    at 4 hold service greeter
    at 5 recover i2
    at 6 release service greeter
    at 7 end i1#2 failed!fail
    at 8 grant i2`,
  service_and_handler_limits: `
    # Handlers with limits of their own wait apart, so that they hold up no others.
    at 0 limit service:counter 2
    at 0 limit handler:counter/peek 1
    at 1 invoke i1 counter/bob/peek
    at 2 invoke i2 counter/bob/peek
    at 3 invoke i3 counter/bob/add
    at 4 invoke i4 counter/eve/add
    at 5 end i1#1 failed!fail
    at 6 grant i2
    at 7 end i2#1 failed!fail
    at 8 grant i4`,
  rate_takes_a_token: `
    # Two at once, then one in half a second. A retry takes none.
    at 0 limit blue 2/1000
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:greeter/hi
    at 3 end i1#1 failed
    at 503 timer i1 503/retry/0
    at 504 limit blue 3/1000
    at 505 grant i3
    at 506 bucket scope:blue
    at 2000 bucket scope:blue`,
  grant_comes_too_late: `
    # What it was for has been killed, or the limit lowered since: then it waits again, in its place.
    at 0 limit blue 2
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:greeter/hi
    at 3 invoke i4 blue:greeter/hi
    at 4 end i1#1 failed!fail
    at 5 operate i3 kill
    at 6 grant i3
    at 7 limit blue 1
    at 8 grant i4
    at 9 end i2#1 failed!fail
    at 10 grant i4`,
  moves_to_another_queue: `
    # Its service is paused before the grant arrives, and a deployment after that.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 end i1#1 failed!fail
    at 3 hold deployment dp_1
    at 4 grant i2
    at 5 hold queue greeter:blue
    at 6 release deployment dp_1
    at 7 release queue greeter:blue
    at 8 grant i2`,
  limit_is_raised_and_deleted: `
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi priority=0
    at 2 invoke i3 blue:greeter/hi priority=9
    at 3 invoke i4 blue:greeter/hi priority=0
    at 4 limit blue 2
    at 5 limit blue off
    at 6 grant i3
    at 7 grant i2
    at 8 grant i4`,
  what_counts_nowhere_is_not_marked: `
    at 0 invoke i1 greeter/hi
    at 1 end i1#1 failed
    at 2 limit service:greeter 1
    at 3 invoke i2 greeter/hi
    at 501 timer i1 501/retry/0
    at 502 end i2#1 failed!fail
    at 503 grant i1`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(transcript(plays[name] ?? "")).toMatchFileSnapshot(`golden/${name}.txt`);
});
