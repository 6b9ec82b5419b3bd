import { describe, expect, test } from "vitest";
import { between } from "./_places.ts";
import { transcript } from "./transcript.ts";

/** Plays about slots, as in `golden_flow.test.ts`: what takes them and gives them back by other ways. */
const plays: Record<string, string> = {
  deployment_changes_while_paused: `
    # It holds no slot while it is paused. With one, it goes on where the operator has put it.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 hear i1#1 0 run:1
    at 2 invoke i2 blue:greeter/hi
    at 3 end i1#1 failed!pause
    at 4 grant i2
    at 5 deploy dp_2
    at 6 operate i1 resume latest
    at 7 operate i1 pause
    at 8 operate i1 resume dp_1
    # The first of its places is void.
    at 9 end i2#1 failed!fail
    at 10 grant i1
    at 11 grant i1
    at 12 end i1#2 failed!pause
    at 13 operate i1 resume latest
    at 14 hear i1#3 0 out:done
    at 15 end i1#3 ended`,
  deployment_is_updated_in_place: `
    # Neither who runs, nor who waits or is paused, takes a slot or gives one back.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 hear i1#1 0 run:1
    at 2 invoke i2 blue:greeter/hi
    at 3 update dp_1
    at 4 end i1#1 failed!pause
    at 5 update dp_1
    at 6 grant i2
    at 7 operate i1 resume keep
    at 8 update dp_1
    at 9 end i2#1 failed!fail
    at 10 grant i1
    at 11 operate i1 kill`,
  limit_is_lowered_while_two_are_granted: `
    # The first in line starts, and the one behind it waits.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:greeter/hi
    at 3 limit blue 3
    at 4 limit blue 2
    at 5 grant i2
    at 6 grant i3
    at 7 end i1#1 failed!fail
    at 8 grant i3`,
  paused_one_leaves_a_paused_deployment: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 run:1
    at 2 end i1#1 failed!pause
    at 3 hold deployment dp_1
    at 4 operate i1 resume
    at 5 operate i1 pause
    at 6 deploy dp_2
    at 7 operate i1 resume latest
    at 8 release deployment dp_1
    at 9 grant i1`,
  purge_frees_no_slot_twice: `
    # Who has a slot or waits for one is not purged. Who is completed has given it back.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi
    at 2 invoke i3 blue:greeter/hi
    at 3 operate i1 purge
    at 4 operate i2 purge
    at 5 hear i1#1 0 out:done
    at 6 end i1#1 ended
    at 7 operate i1 purge
    at 8 operate i2 kill
    at 9 operate i2 purge
    # Its grant is void.
    at 10 grant i2
    at 11 grant i3
    at 12 invoke i4 blue:greeter/hi
    at 13 operate i3 kill
    at 14 operate i3 purgeJournal
    at 15 operate i3 purge
    at 16 grant i4`,
  priority_goes_first_and_ages: `
    # A level of priority is worth ten seconds of waiting.
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:greeter/hi priority=0
    at 2 invoke i3 blue:greeter/hi
    at 3 invoke i4 blue:greeter/hi priority=9
    at 4 invoke i5 blue:greeter/hi priority=9
    at 5 end i1#1 failed!fail
    at 6 grant i4
    at 7 end i4#1 failed!fail
    at 8 grant i5
    at 9 end i5#1 failed!fail
    at 10 grant i3
    at 90010 invoke i6 blue:greeter/hi priority=9
    at 90011 end i3#1 failed!fail
    at 90012 grant i2
    at 90013 end i2#1 failed!fail
    at 90014 grant i6`,
  what_has_run_goes_before_its_priority: `
    at 0 limit blue 1
    at 0 invoke i1 blue:greeter/hi
    at 1 hear i1#1 0 sleep:1:5
    at 2 end i1#1 suspended:1@2
    at 3 invoke i2 blue:greeter/hi
    at 4 invoke i3 blue:greeter/hi
    at 5 invoke i4 blue:greeter/hi priority=5
    at 6 timer i1 5/sleep/1
    at 7 end i2#1 failed!fail
    at 8 grant i4
    at 9 end i4#1 failed!fail
    at 10 grant i1
    at 11 end i1#2 failed!fail
    at 12 grant i3`,
  service_is_paused_and_resumed: `
    # What runs goes on to its end; a wake, a retry and a new call wait. Then as many go on as the limit allows.
    at 0 limit service:greeter 2
    at 0 invoke i1 greeter/hi
    at 1 invoke i2 greeter/hi
    at 2 hear i1#1 0 sleep:1:8
    at 3 end i1#1 suspended:1@2
    at 4 invoke i3 greeter/hi
    at 5 hold service greeter
    at 6 invoke i4 greeter/hi
    at 7 end i2#1 failed
    at 8 timer i1 8/sleep/1
    at 9 hear i3#1 0 out:done
    at 10 end i3#1 ended
    at 507 timer i2 507/retry/0
    at 600 release service greeter
    at 601 grant i1
    at 602 grant i2
    at 603 end i1#2 failed!fail
    at 604 grant i4`,
  pause_finds_who_waits_for_the_invoker: `
    # Its attempt has not begun. It gives its slot of blue back, and takes no second token of the rate.
    at 0 limit blue 1
    at 0 limit service:greeter 1/1000
    at 0 invoke i1 blue:greeter/hi
    at 1 invoke i2 blue:counter/c/add
    at 2 hold service greeter
    at 3 slot i1#1
    at 4 grant i2
    # It is asked for no more: its attempt has moved on.
    at 5 slot i1#1
    at 6 release service greeter
    at 7 end i2#1 failed!fail
    at 8 grant i1
    at 9 slot i1#2`,
  pause_of_a_deployment_and_a_queue_at_the_invoker: `
    # Both are paused; it waits until the last of them goes on.
    at 0 invoke i1 blue:greeter/hi
    at 1 hold deployment dp_1
    at 2 hold queue greeter:blue
    at 3 slot i1#1
    at 4 release deployment dp_1
    at 6 release queue greeter:blue
    at 7 grant i1
    at 8 hear i1#2 0 out:done
    at 9 end i1#2 ended`,
  deployment_is_paused_and_resumed: `
    # Who is bound to it waits; who is bound to none goes on, on the latest one.
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 sleep:1:4
    at 2 end i1#1 suspended:1@2
    at 3 hold deployment dp_1
    at 4 timer i1 4/sleep/1
    at 5 invoke i2 greeter/hi
    at 6 deploy dp_2
    at 7 grant i2
    at 8 invoke i3 greeter/hi
    at 9 release deployment dp_1
    at 10 grant i1`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(transcript(plays[name] ?? "")).toMatchFileSnapshot(`golden/${name}.txt`);
});

/** As in `between.test.ts`. Partition `a` is the home of the counter. */
const shares: Record<string, string> = {
  share_goes_to_another_partition: `
    # a has the only slot while it runs; b asks for it, and a gives it back once it is free. Then a waits.
    at 0 limit service:greeter 1
    at 1 share a
    at 2 share b
    at 3 invoke a1 greeter/hi
    at 4 share a
    at 5 grant a1
    at 6 invoke b1 greeter/hi
    at 7 share b
    at 8 bring b>a 1
    at 9 invoke a2 greeter/hi
    at 10 share a
    at 11 end a1#1 failed!fail
    at 12 bring a>b 1
    at 13 grant b1
    at 14 end b1#1 failed!fail
    at 15 bring b>a 2
    at 16 grant a2`,
  share_comes_back_unused: `
    # The one that it was for has been killed meanwhile. Its grant is void, and no slot is lost.
    at 0 limit service:greeter 1
    at 1 share a
    at 2 share b
    at 3 invoke b1 greeter/hi
    at 4 share b
    at 5 bring b>a 1
    at 6 operate b1 kill
    at 7 bring a>b 1
    at 8 invoke a1 greeter/hi
    at 9 share a
    at 10 bring a>b 2
    at 11 grant b1
    at 12 share b
    at 13 bring b>a 2
    at 14 grant a1`,
  limit_is_set_while_both_run: `
    # Three run when two may. a gives nothing before b has counted, then wants all slots back, and
    # starts its second once two of the three have ended.
    at 0 invoke a1 greeter/hi
    at 0 invoke b1 greeter/hi
    at 0 invoke b2 greeter/hi
    at 1 limit service:greeter 2@1
    at 2 share a
    at 3 invoke a2 greeter/hi
    at 4 share a
    at 5 share b
    at 6 bring b>a 1
    at 7 bring a>b 1
    at 8 end b1#1 failed!fail
    at 9 bring b>a 2
    at 10 end a1#1 failed!fail
    at 11 grant a2`,
  limit_is_lowered_while_slots_move: `
    # b gives back the slot that a had sent before either heard of it. Then a gives one of what is left.
    at 0 limit service:greeter 3@1
    at 1 share a
    at 1 share b
    at 1 bring b>a 1
    at 2 invoke b1 greeter/hi
    at 3 share b
    at 4 bring b>a 2
    at 5 bring a>b 1
    at 6 grant b1
    at 7 invoke b2 greeter/hi
    at 8 share b
    at 9 bring b>a 3
    at 10 limit service:greeter 1@1,9
    at 11 bring a>b 2
    at 12 share b
    at 13 share b
    at 14 bring b>a 4-6
    at 15 end b1#1 failed!fail
    at 16 bring b>a 7
    at 17 bring a>b 3-4
    at 18 grant b2`,
};

describe("between partitions", () => {
  test.each(Object.keys(shares))("%s", async (name) => {
    const text = between(2, shares[name] ?? "");
    await expect(text).toMatchFileSnapshot(`golden/between/${name}.txt`);
  });
});
