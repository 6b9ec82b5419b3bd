package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	restate "github.com/restatedev/sdk-go"
)

// steps are runs of every kind: named, not named, raw, void, flaky, given up, terminal and asynchronous.
func steps(ctx restate.Context, _ restate.Void) ([]string, error) {
	id := ctx.Request().ID
	var out []string
	say := func(value string, err error) { out = append(out, value+told(err)) }

	named, err := restate.Run(ctx, func(restate.RunContext) (string, error) { return "one", nil }, restate.WithName("first"))
	say(named, err)
	unnamed, err := restate.Run(ctx, func(restate.RunContext) (int, error) { return 2, nil })
	say(fmt.Sprint(unnamed), err)
	bytes, err := restate.Run(ctx, func(restate.RunContext) ([]byte, error) { return []byte{0, 1, 255}, nil }, restate.WithBinary, restate.WithName("bytes"))
	say(fmt.Sprint(bytes), err)
	say("void", restate.RunVoid(ctx, func(restate.RunContext) error { return nil }, restate.WithName("nothing")))
	flaky, err := restate.Run(ctx, func(restate.RunContext) (int, error) {
		if n := attempt(id + "flaky"); n < 3 {
			return 0, fmt.Errorf("flaky %d", n)
		}
		return 3, nil
	}, restate.WithName("flaky"), restate.WithInitialRetryInterval(10*time.Millisecond), restate.WithRetryIntervalFactor(2), restate.WithMaxRetryInterval(50*time.Millisecond), restate.WithMaxRetryAttempts(10))
	say(fmt.Sprint(flaky), err)
	_, err = restate.Run(ctx, func(restate.RunContext) (int, error) { return 0, errors.New("never well") },
		restate.WithName("given up"), restate.WithInitialRetryInterval(10*time.Millisecond), restate.WithMaxRetryAttempts(2), restate.WithMaxRetryDuration(10*time.Second))
	say("", err)
	_, err = restate.Run(ctx, func(restate.RunContext) (int, error) {
		return 0, restate.ToTerminalError(errors.New("no way"), restate.WithErrorCode(418), restate.WithMetadata("tea", "pot"))
	}, restate.WithName("terminal"))
	say("", err)

	a := restate.RunAsync(ctx, func(restate.RunContext) (string, error) { return "a", nil }, restate.WithName("a"))
	b := restate.RunAsync(ctx, func(restate.RunContext) (string, error) { return "b", nil }, restate.WithName("b"))
	for _, err := range restate.Wait(ctx, a, b) {
		if err != nil {
			return nil, err
		}
	}
	say(a.Result())
	say(b.Result())
	return out, nil
}

func fail(_ restate.Context, f failure) (restate.Void, error) {
	return restate.Void{}, restate.ToTerminalError(errors.New(f.Message), restate.WithErrorCode(restate.Code(f.Code)), restate.WithMetadataMap(f.Metadata))
}

// flaky fails, fails with a code, panics, and then does well.
func flaky(ctx restate.Context, _ restate.Void) (int, error) {
	switch n := attempt(ctx.Request().ID); n {
	case 1:
		return 0, errors.New("first try")
	case 2:
		return 0, restate.ToRetryableError(errors.New("second try"), restate.WithErrorCode(503))
	case 3:
		panic("third try")
	default:
		return n, nil
	}
}

func broken(ctx restate.Context, _ restate.Void) (string, error) {
	step, err := restate.Run(ctx, func(restate.RunContext) (string, error) { return "kept", nil }, restate.WithName("before"))
	if err != nil {
		return "", err
	}
	if attempt(ctx.Request().ID) > 2 && attempt(ctx.Request().ID+"well") > 1 {
		return step, nil
	}
	return "", errors.New("broken")
}

func nap(ctx restate.Context, ms int) (string, error) {
	if err := restate.Sleep(ctx, time.Duration(ms)*time.Millisecond, restate.WithName("nap")); err != nil {
		return "", err
	}
	return "rested", nil
}

func slowStep(ctx restate.Context, ms int) (int, error) {
	before, err := restate.Run(ctx, func(restate.RunContext) (int, error) { return attempt(ctx.Request().ID), nil }, restate.WithName("before"))
	if err != nil {
		return 0, err
	}
	return restate.Run(ctx, func(restate.RunContext) (int, error) {
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return before, nil
	}, restate.WithName("slow"))
}

// random must be the same before and after a suspension.
func random(ctx restate.Context, _ restate.Void) (bool, error) {
	uuid, number := restate.UUID(ctx).String(), restate.Rand(ctx).Uint64()
	source := restate.RandSource(ctx).Uint64()
	now := fmt.Sprint(uuid, number, source)
	kept, err := restate.Run(ctx, func(restate.RunContext) (string, error) { return now, nil }, restate.WithName("random"))
	if err != nil {
		return false, err
	}
	if err := restate.Sleep(ctx, 400*time.Millisecond); err != nil {
		return false, err
	}
	return kept == now && len(uuid) == 36, nil
}

type sizes struct {
	Bytes int    `json:"bytes"`
	Text  string `json:"text"`
}

// large passes big values through input, run, state, call and output.
func large(ctx restate.Context, in sizes) (sizes, error) {
	text, err := restate.Run(ctx, func(restate.RunContext) (string, error) { return strings.Repeat("x", in.Bytes), nil }, restate.WithName("large"))
	if err != nil {
		return sizes{}, err
	}
	key := ctx.Request().ID
	if _, err := restate.Object[restate.Void](ctx, "GoObject", key, "set").Request(pair{"big", text}); err != nil {
		return sizes{}, err
	}
	back, err := restate.Object[*string](ctx, "GoObject", key, "get").Request("big")
	if err != nil {
		return sizes{}, err
	}
	return sizes{Bytes: len(in.Text), Text: *back}, nil
}

func parallel(ctx restate.Context, n int) (int, error) {
	var futures []restate.Future
	for i := range n {
		futures = append(futures, restate.Service[string](ctx, name, "echo").RequestFuture(fmt.Sprint(i)))
	}
	seen := map[string]bool{}
	for future, err := range restate.Wait(ctx, futures...) {
		if err != nil {
			return 0, err
		}
		value, err := future.(restate.ResponseFuture[string]).Response()
		if err != nil {
			return 0, err
		}
		seen[value] = true
	}
	return len(seen), nil
}
