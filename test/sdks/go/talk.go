package main

import (
	"errors"
	"fmt"
	"time"

	restate "github.com/restatedev/sdk-go"
)

// request answers what the handler can know about its request.
func request(ctx restate.Context, _ restate.Void) (map[string]any, error) {
	r := ctx.Request()
	headers := r.Headers.ToMap()
	return map[string]any{"id": r.ID, "key": r.IdempotencyKey, "scope": r.Scope, "limit": r.LimitKey, "body": len(r.Body), "x-one": headers["x-one"], "traced": headers["traceparent"] != ""}, nil
}

// calls makes calls and one-way calls with all their options, and attaches to them.
func calls(ctx restate.Context, key string) ([]string, error) {
	var out []string
	say := func(value any, err error) { out = append(out, fmt.Sprint(value, told(err))) }

	say(restate.Service[string](ctx, name, "echo").Request("hello"))
	say(restate.Service[string](ctx, name, "private").Request("within"))
	say(restate.Service[restate.Void](ctx, name, "void").Request(restate.Void{}))
	say(restate.Service[[]byte](ctx, name, "raw", restate.WithBinary).Request([]byte{1, 2, 3}))
	say(restate.Service[string](ctx, name, "rot", restate.WithInputCodec(rot13{}), restate.WithOutputCodec(rot13{})).Request("secret"))
	say(restate.Object[int](ctx, "GoObject", key, "add").Request(5))
	say(restate.Service[restate.Void](ctx, name, "fail").Request(failure{Code: 409, Message: "taken", Metadata: map[string]string{"by": "me"}}))
	said, err := restate.Service[map[string]any](ctx, name, "request").Request(restate.Void{}, restate.WithHeaders(map[string]string{"x-one": "1"}), restate.WithIdempotencyKey("call-"+key))
	say(fmt.Sprint(said["x-one"], said["key"]), err)

	future := restate.Service[string](ctx, name, "echo").RequestFuture("later")
	if future.GetInvocationId() == "" {
		return nil, errors.New("no invocation id")
	}
	say(future.Response())

	sent := restate.ServiceSend(ctx, name, "echo").Send("sent", restate.WithIdempotencyKey("send-"+key), restate.WithHeaders(map[string]string{"x-two": "2"}))
	again := restate.ServiceSend(ctx, name, "echo").Send("other", restate.WithIdempotencyKey("send-"+key))
	say(sent.GetInvocationId() == again.GetInvocationId(), nil)
	say(restate.AttachInvocation[string](ctx, again.GetInvocationId()).Response())
	delayed := restate.ObjectSend(ctx, "GoObject", key, "add").Send(10, restate.WithDelay(300*time.Millisecond))
	say(restate.AttachInvocation[int](ctx, delayed.GetInvocationId()).Response())
	run := restate.WorkflowSend(ctx, "GoFlow", key, "run").Send("from a call")
	say(restate.Workflow[bool](ctx, "GoFlow", key, "resolve").Request("yes"))
	say(restate.AttachInvocation[string](ctx, run.GetInvocationId()).Response())
	say(restate.Workflow[string](ctx, "GoFlow", key, "run").Request("once more"))
	failed := restate.ServiceSend(ctx, name, "fail").Send(failure{Code: 451, Message: "burnt"})
	say(restate.AttachInvocation[restate.Void](ctx, failed.GetInvocationId()).Response())
	return out, nil
}

func cancels(ctx restate.Context, _ restate.Void) ([]string, error) {
	var out []string
	nap := restate.ServiceSend(ctx, name, "nap").Send(3_600_000)
	restate.CancelInvocation(ctx, nap.GetInvocationId())
	_, err := restate.AttachInvocation[string](ctx, nap.GetInvocationId()).Response()
	out = append(out, told(err))
	scheduled := restate.ServiceSend(ctx, name, "nap").Send(1, restate.WithDelay(time.Hour))
	restate.CancelInvocation(ctx, scheduled.GetInvocationId())
	_, err = restate.AttachInvocation[string](ctx, scheduled.GetInvocationId()).Response()
	out = append(out, told(err))
	call := restate.Service[string](ctx, name, "nap").RequestFuture(3_600_000)
	restate.CancelInvocation(ctx, call.GetInvocationId())
	_, err = call.Response()
	return append(out, told(err)), nil
}

// compensates waits for ever; when it is canceled it undoes its step and calls, and fails with the cause.
func compensates(ctx restate.Context, key string) (string, error) {
	if _, err := restate.Object[int](ctx, "GoObject", key, "add").Request(7); err != nil {
		return "", err
	}
	_, err := restate.Awakeable[string](ctx).Result()
	if err == nil {
		return "", errors.New("not canceled")
	}
	if _, err := restate.Run(ctx, func(restate.RunContext) (string, error) { return "undone", nil }, restate.WithName("undo")); err != nil {
		return "", err
	}
	if _, err := restate.Object[int](ctx, "GoObject", key, "add").Request(-7); err != nil {
		return "", err
	}
	return "", err
}

// waits on an awakeable that another handler ends, with a value or an error.
func waits(ctx restate.Context, how string) (string, error) {
	awakeable := restate.Awakeable[string](ctx)
	if how == "outside" {
		restate.ObjectSend(ctx, "GoObject", "ids", "set").Send(pair{"awakeable", awakeable.Id()})
		value, err := awakeable.Result()
		return value + told(err), nil
	}
	restate.ServiceSend(ctx, name, "ends").Send(waited{ID: awakeable.Id(), Value: "woken", Error: how}, restate.WithDelay(300*time.Millisecond))
	value, err := awakeable.Result()
	return value + told(err), nil
}

func ends(ctx restate.Context, w waited) (restate.Void, error) {
	signal := len(w.ID) > 4 && w.ID[:4] == "inv_"
	reason := restate.ToTerminalError(errors.New(w.Error), restate.WithErrorCode(422), restate.WithMetadata("why", "asked"))
	switch {
	case signal && w.Error == "":
		restate.ResolveSignal(ctx, w.ID, "go", w.Value)
	case signal:
		restate.RejectSignal(ctx, w.ID, "go", reason)
	case w.Error == "":
		restate.ResolveAwakeable(ctx, w.ID, w.Value)
	default:
		restate.RejectAwakeable(ctx, w.ID, reason)
	}
	return restate.Void{}, nil
}

func signals(ctx restate.Context, how string) (string, error) {
	signal := restate.Signal[string](ctx, "go")
	restate.ServiceSend(ctx, name, "ends").Send(waited{ID: ctx.Request().ID, Value: "signaled", Error: how}, restate.WithDelay(300*time.Millisecond))
	value, err := signal.Result()
	return value + told(err), nil
}

// combines waits for the first, for the rest in order, and one by one.
func combines(ctx restate.Context, _ restate.Void) ([]string, error) {
	var out []string
	never, soon := restate.Awakeable[string](ctx), restate.After(ctx, 50*time.Millisecond, restate.WithName("soon"))
	first, err := restate.WaitFirst(ctx, never, soon)
	out = append(out, fmt.Sprint(first == soon, told(err)))

	slow, fast := restate.After(ctx, 600*time.Millisecond), restate.After(ctx, 10*time.Millisecond)
	call := restate.Service[string](ctx, name, "nap").RequestFuture(300)
	order := restate.WaitIter(ctx, slow, fast, call)
	for order.Next() {
		switch order.Value() {
		case slow:
			out = append(out, "slow")
		case fast:
			out = append(out, "fast")
		case call:
			out = append(out, "call")
		}
	}
	out = append(out, told(order.Err()))

	bad := restate.Service[restate.Void](ctx, name, "fail").RequestFuture(failure{Code: 400, Message: "bad"})
	step := restate.RunAsync(ctx, func(restate.RunContext) (string, error) { return "step", nil }, restate.WithName("raced"))
	for future := range restate.Wait(ctx, bad, step) {
		_ = future
	}
	_, err = bad.Response()
	value, stepErr := step.Result()
	return append(out, told(err), value+told(stepErr)), nil
}

// scoped calls within a scope, which needs a server that has scopes on.
func scoped(ctx restate.Context, scope string) (string, error) {
	said, err := restate.Service[map[string]any](ctx, name, "request", restate.WithScope(scope)).Request(restate.Void{}, restate.WithLimitKey("a/b"))
	return fmt.Sprint(said["scope"], said["limit"]) + told(err), nil
}
