import { expect, test } from "vitest";
import { transcript } from "./transcript.ts";

/** Read each golden file like a play. `npx vitest run test/engine -u` rewrites them. */
const plays: Record<string, string> = {
  call_completes: `
    # The call is accepted, runs, answers; its journal is kept until it expires.
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 out:done
    at 2 end i1#1 ended
    at 900 expire i1
    at 1002 expire i1
    at 1003 expire i1`,
  object_takes_turns: `
    at 0 invoke i1 counter/bob/add
    at 1 invoke i2 counter/bob/add
    at 2 invoke i3 counter/bob/add
    at 3 invoke i4 counter/bob/peek
    at 4 invoke i5 counter/eve/add
    at 5 hear i1#1 0 set:n:5 out:1
    at 6 end i1#1 ended
    at 7 hear i2#1 0 out:2
    at 7 end i2#1 ended
    at 8 hear i3#1 0 out:3
    at 9 end i3#1 ended`,
  sleeper_is_woken: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 sleep:1:501
    at 2 end i1#1 suspended:1@1
    at 400 timer i1 501/sleep/1
    at 501 timer i1 501/sleep/1
    at 501 timer i1 501/sleep/1
    at 502 hear i1#2 0 out:done
    at 503 end i1#2 ended`,
  notification_crosses_suspension: `
    # The timer fires after the request half was closed: the suspension finds it and goes on.
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 sleep:1:10
    at 10 timer i1 10/sleep/1
    at 11 end i1#1 suspended:1@2`,
  delivered_notification_does_not_wake: `
    # Entry 2 was delivered and consumed; only what came after it may wake the invocation.
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 sleep:1:10
    at 10 timer i1 10/sleep/1
    at 11 end i1#1 suspended:1@3`,
  stale_streams_change_nothing: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 run:1
    at 2 end i1#1 failed
    at 3 hear i1#1 1 runCompletion:1:x
    at 4 end i1#1 ended
    at 502 timer i1 502/retry/0
    at 503 hear i1#1 1 runCompletion:1:x
    at 504 hear i1#2 0 runCompletion:1:y
    at 505 hear i1#2 0 runCompletion:1:y
    at 506 hear i1#2 0 runCompletion:1:y out:done
    at 507 end i1#2 ended`,
  delayed_send: `
    at 0 invoke i1 greeter/hi after=500
    at 500 timer i1 500/start/0
    at 500 timer i1 500/start/0`,
  call_between_handlers: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 call:1:2:counter/bob/peek
    at 2 end i1#1 suspended:2@2`,
  unknown_callee: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 run:1 call:2:3:nobody/hi out:never
    at 2 hear i1#1 3 out:late`,
  state_is_applied_in_order: `
    at 0 invoke i1 counter/bob/add
    at 1 hear i1#1 0 set:n:1 set:m:2 clear:n get:1:m get:2:n clearAll set:k:3 out:done
    at 2 end i1#1 ended
    at 3 invoke i2 counter/bob/peek
    at 4 hear i2#1 0 set:n:9`,
  plain_service_has_no_state: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 get:1:n`,
  workflow_runs_once: `
    at 0 invoke w1 flow/a/run again
    at 1 invoke w1 flow/a/run again
    at 2 hear w1#1 0 out:done
    at 3 end w1#1 ended
    at 4 invoke w1 flow/a/run again`,
  result_is_over: `
    # The same id again: attached while it runs, answered while it is kept, and new after that.
    at 0 invoke i1 greeter/hi again
    at 1 invoke i1 greeter/hi again
    at 2 hear i1#1 0 run:1 runCompletion:1:x out:done
    at 3 end i1#1 ended
    at 1002 invoke i1 greeter/hi again
    at 1003 invoke i1 greeter/hi again
    # A stream of the first life is still open, and speaks.
    at 1004 hear i1#1 3 out:late
    at 1005 hear i1#1004 0 out:anew
    at 1006 end i1#1004 ended`,
  id_reused_in_same_millisecond: `
    # Killed, purged and invoked again before the clock moves: frames of the first life are dropped.
    at 0 invoke i1 greeter/hi again
    at 0 operate i1 kill
    at 0 operate i1 purge
    at 0 invoke i1 greeter/hi again
    at 0 hear i1#1 0 out:late
    at 0 hear i1#2 0 out:anew
    at 0 end i1#2 ended`,
  process_died: `
    at 0 invoke i1 counter/bob/add
    at 1 hear i1#1 0 run:1 runCompletion:1:x
    at 2 recover i1
    at 3 hear i1#1 2 out:late
    at 4 slot i1#2
    at 5 slot i1#1`,
  promise_is_kept: `
    # The run waits, a shared handler peeks, keeps it, and cannot keep it twice.
    at 0 invoke w1 flow/a/run
    at 1 hear w1#1 0 promise:1:p
    at 2 end w1#1 suspended:1@1
    at 3 invoke q1 flow/a/ask
    at 4 hear q1#1 0 peek:1:p keep:2:p:yes keep:3:p:no peek:4:p promise:5:p
    at 5 hear w1#2 0 set:n:1 out:done
    at 6 end w1#2 ended
    at 7 operate w1 purge
    at 8 invoke w1 flow/a/run again`,
  promise_is_completed_by_an_operator: `
    # Nothing is known of the workflow: the row would stay for good.
    at 0 complete w1 flow/a p=early
    at 1 invoke w1 flow/a/run
    at 2 hear w1#1 0 promise:1:p
    at 3 end w1#1 suspended:1@1
    at 4 complete w1 flow/a p=yes
    at 5 complete w1 flow/a p!no
    # Nothing waits for this one, and a handler hears of it later.
    at 6 complete w1 flow/a k!no
    at 7 hear w1#2 0 promise:2:k keep:3:k:yes out:done
    at 8 end w1#2 ended
    at 9 operate w1 purge
    at 10 complete w1 flow/a r=late
    # A shared handler may wait before there is a run.
    at 11 invoke q1 flow/b/ask
    at 12 hear q1#1 0 promise:1:p
    at 13 complete w2 flow/b p=yes`,
  promises_are_for_workflows: `
    at 0 invoke i1 counter/bob/add
    at 1 hear i1#1 0 promise:1:p`,
  awakeable_is_resolved: `
    # Signal 17 comes before the invocation waits, 18 while it waits; nobody hears signals of the dead.
    at 0 invoke i1 greeter/hi
    at 1 signal i1 17:early
    at 2 end i1#1 suspended:s17@1
    at 3 end i1#2 suspended:s18@2
    at 4 signal i1 other:x
    at 5 signal i1 18:late
    at 6 hear i1#3 0 out:done
    at 7 end i1#3 ended
    at 8 signal i1 19:never
    at 9 signal i2 17:never`,
  signal_waits_for_the_start: `
    at 0 invoke i1 greeter/hi after=500
    at 1 signal i1 17:early
    at 500 timer i1 500/start/0`,
  handlers_signal_each_other: `
    at 0 invoke i1 greeter/hi
    at 1 end i1#1 suspended:s17@1
    at 2 invoke i2 greeter/hi
    at 3 hear i2#1 0 tell:i1:17:hello tell:i2:18:self tell:i1:1`,
  attach_and_output: `
    at 0 invoke i1 greeter/hi
    at 1 invoke i2 greeter/hi
    at 2 hear i2#1 0 attach:1:i1 output:2:i1 attach:3:i9 output:4:i9
    at 3 ask i1 wait
    at 4 ask i1 now
    at 5 hear i1#1 0 out:done
    at 6 end i1#1 ended
    at 7 ask i1 wait
    at 8 hear i2#1 4 output:5:i1
    at 1007 ask i1 now
    at 1008 ask i9 wait`,
  all_wait_for_all: `
    at 0 invoke i1 greeter/hi
    at 1 hear i1#1 0 sleep:1:10 sleep:2:20
    at 2 end i1#1 suspended:all=1,2@2
    at 10 timer i1 10/sleep/1
    at 20 timer i1 20/sleep/2`,
  cancel_everywhere: `
    # Running: pushed. Suspended: woken. Backing off: kept. Scheduled and inboxed: over, unrecorded.
    at 0 invoke i1 counter/bob/add
    at 1 invoke i2 counter/bob/add
    at 2 operate i2 cancel
    at 3 ask i2 now
    at 4 operate i1 cancel
    at 5 end i1#1 suspended:7@2
    at 6 operate i1 cancel
    at 7 end i1#2 failed
    at 8 operate i1 cancel
    at 9 invoke i3 greeter/hi after=500
    at 10 operate i3 cancel
    at 11 operate i9 cancel
    at 507 timer i1 507/retry/0
    at 508 hear i1#3 0 fail:canceled
    at 509 end i1#3 ended
    at 510 operate i1 cancel`,
  consumed_cancel_does_not_wake: `
    at 0 invoke i1 greeter/hi
    at 1 operate i1 cancel
    at 2 hear i1#1 0 sleep:1:900
    at 3 end i1#1 suspended:1@2`,
  kill_includes_calls: `
    at 0 invoke i1 counter/bob/add
    at 1 invoke i2 counter/bob/add
    at 2 hear i1#1 0 call:1:2:greeter/hi send:3:0:greeter/hi
    at 3 operate i1 kill
    at 4 hear i1#1 2 out:late
    at 5 operate i1 kill
    at 6 operate i2 kill`,
  pause_and_resume: `
    # Running: paused where it ends. Backing off: at once. Suspended: without an attempt already.
    at 0 invoke i1 greeter/hi
    at 1 operate i1 pause
    at 2 hear i1#1 0 sleep:1:100
    at 3 end i1#1 suspended:1@2
    at 100 timer i1 100/sleep/1
    at 101 operate i1 pause
    at 102 operate i1 resume
    at 103 end i1#2 failed
    at 104 operate i1 pause
    at 603 timer i1 603/retry/0
    at 604 operate i1 resume
    at 605 end i1#3 suspended:2@3
    at 606 operate i1 pause
    at 607 operate i1 resume
    at 608 operate i1 pause
    at 609 operate i1 resume
    at 610 operate i1 pause
    at 611 recover i1`,
  resume_elsewhere: `
    at 0 invoke i1 greeter/hi
    at 1 operate i1 resume latest
    at 2 end i1#1 failed!pause
    at 3 operate i1 resume dp_1
    at 4 operate i1 resume latest
    at 5 hear i1#2 0 run:1
    at 6 end i1#2 failed!pause
    at 7 operate i1 resume dp_9
    at 8 operate i1 resume latest`,
  state_is_edited_when_free: `
    # At once while nobody holds the object; else in turn. An edit of another state than was seen is void.
    at 0 edit counter/bob n=1 m=2
    at 1 edit counter/bob n=9 if=n=0
    at 2 invoke i1 counter/bob/add
    at 3 edit counter/bob k=5
    at 4 invoke i2 counter/bob/add
    at 5 hear i1#1 0 set:n:3 out:done
    at 6 end i1#1 ended
    at 7 edit counter/bob n=7 if=k=5
    at 8 hear i2#1 0 out:done
    at 9 end i2#1 ended`,
  scopes_are_apart: `
    # An object or a workflow in a scope is another one: its lock, inbox, state and promises are its own.
    at 0 invoke i1 counter/bob/add
    at 1 invoke i2 blue:counter/bob/add
    at 2 invoke i3 red:counter/bob/add
    at 3 invoke i4 blue:counter/bob/add
    at 4 edit blue:counter/bob n=1
    at 5 hear i2#1 0 set:n:5 get:1:n out:done
    at 6 hear i1#1 0 get:1:n out:done
    at 7 end i2#1 ended
    at 8 hear i4#1 0 clearAll out:done
    at 9 end i4#1 ended
    at 10 invoke i5 blue:counter/bob/peek
    at 11 invoke w1 blue:flow/a/run
    at 12 invoke w2 flow/a/ask
    at 13 invoke w3 blue:flow/a/ask
    at 14 hear w2#1 0 peek:1:p
    at 15 hear w3#1 0 keep:1:p:yes
    at 16 hear w1#1 0 promise:1:p out:done
    at 17 end w1#1 ended
    at 2000 expire w1`,
  restart_as_new: `
    at 0 invoke i1 greeter/hi
    at 1 operate i1 restart i8
    at 2 hear i1#1 0 run:1 runCompletion:1:x out:done
    at 3 end i1#1 ended
    at 4 operate i1 restart i8
    at 5 operate i1 restart i9 from=2 keep
    at 6 operate i1 restart i7 from=4
    at 7 operate i1 purgeJournal
    at 8 operate i1 restart i7
    at 9 operate i1 purge
    at 10 operate i1 purge`,
  nothing_is_kept: `
    at 0 invoke i1 greeter/hi keep=0
    at 1 hear i1#1 0 fail:no
    at 2 end i1#1 ended`,
};

test.each(Object.keys(plays))("%s", async (name) => {
  await expect(transcript(plays[name] ?? "")).toMatchFileSnapshot(`golden/${name}.txt`);
});
