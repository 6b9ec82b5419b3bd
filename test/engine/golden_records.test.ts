import { expect, test } from "vitest";
import { transcript } from "./transcript.ts";

/** Plays about records of Kafka (decision 052), as in `golden.test.ts`. */
const plays: Record<string, string> = {
  records_become_invocations: `
    # A gap is a record that is of another partition of ours, or was skipped.
    at 0 records t/0 3:greeter/hi 5:counter/bob/add 6:counter/bob/add next=9
    # The next batch of this topic, and another partition of it.
    at 1 records t/0 9:greeter/hi
    at 2 records t/1 3:counter/eve/peek`,
  records_come_again: `
    at 0 records t/0 0:greeter/hi 1:greeter/hi
    # All of them, some of them, and those of before: the row does not go back.
    at 1 records t/0 0:greeter/hi 1:greeter/hi
    at 2 records t/0 1:greeter/hi 2:greeter/hi
    at 3 records t/0 0:greeter/hi`,
  workflow_of_a_record_runs_once: `
    at 0 records t/0 0:flow/w/run
    at 1 records t/0 1:flow/w/run 2:flow/w/ask`,
  inbox_of_a_subscription_is_full: `
    at 0 inbox 2
    at 1 records t/0 0:counter/bob/add 1:counter/bob/add 2:counter/bob/add 3:counter/eve/add next=5
    # Nothing fits, not even of another topic.
    at 2 records t/0 2:counter/bob/add 3:counter/eve/add next=5
    at 3 records t/1 0:greeter/hi
    # One is killed while it waits, one ends: there is room again.
    at 4 operate r1 kill
    at 5 hear r0#1 0 out:done
    at 6 end r0#1 ended
    at 7 records t/0 2:counter/bob/add 3:counter/eve/add next=5
    # A purge of what is completed makes no more.
    at 8 operate r0 purge
    at 9 records t/0 5:greeter/hi`,
  record_goes_to_the_dead_letter: `
    at 0 subscription max.attempts=2 on.poison=dead-letter:dead
    at 0 records t/0 0:counter/bob/add 1:counter/bob/add
    at 1 end r0#1 failed
    at 501 timer r0 501/retry/0
    at 502 end r0#2 failed
    at 503 letter r0
    # Of another attempt, of one that owes none, and of one that is not there.
    at 504 letter r0 written=1
    at 505 letter r1
    at 506 letter r9 written=1
    # It fails, and its lock goes on.
    at 507 letter r0 written=2
    at 508 letter r0 written=2`,
  dead_letter_is_not_owed_any_more: `
    at 0 subscription max.attempts=1 on.poison=dead-letter:dead
    at 0 records t/0 0:counter/bob/add 1:counter/eve/add 2:greeter/hi
    at 1 end r0#1 failed
    at 2 end r1#1 failed
    at 3 end r2#1 failed
    # An operator has it tried again: it may owe another letter.
    at 4 operate r0 resume
    at 5 letter r0
    at 6 end r0#2 failed
    at 7 letter r0 written=1
    at 8 operate r1 kill
    at 9 letter r1 written=1
    at 10 operate r2 cancel
    at 11 letter r2`,
  attempts_end_without_a_letter: `
    at 0 subscription max.attempts=1 on.poison=skip
    at 0 records t/0 0:greeter/hi
    at 1 end r0#1 failed`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(transcript(plays[name] ?? "")).toMatchFileSnapshot(`golden/${name}.txt`);
});
