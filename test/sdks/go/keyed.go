package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	restate "github.com/restatedev/sdk-go"
)

type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Inner is made by reflection, the SDK's other way to define a service.
type Inner struct{}

func (Inner) Nothing(restate.Context)                    {}
func (Inner) Half(_ restate.Context, n int) (int, error) { return n / 2, nil }
func (Inner) Says(restate.Context) string                { return "inner" }

func inner() restate.ServiceDefinition {
	return restate.Reflect(Inner{}, restate.WithIngressPrivate(false)).
		ConfigureHandler("Half", restate.WithIngressPrivate(true), restate.WithDocumentation("hidden"))
}

func object() restate.ServiceDefinition {
	return restate.NewObject("GoObject", restate.WithDocumentation("An object"), restate.WithEnableLazyState(false)).
		Handler("add", restate.NewObjectHandler(add)).
		Handler("set", restate.NewObjectHandler(set)).
		Handler("get", restate.NewObjectSharedHandler(get)).
		Handler("keys", restate.NewObjectSharedHandler(keys)).
		Handler("clear", restate.NewObjectHandler(clearOne)).
		Handler("clearAll", restate.NewObjectHandler(clearAll)).
		Handler("all", restate.NewObjectHandler(allState)).
		Handler("hold", restate.NewObjectHandler(hold)).
		Handler("lazily", restate.NewObjectHandler(allState, restate.WithEnableLazyState(true)))
}

func lazy() restate.ServiceDefinition {
	return restate.NewObject("GoLazy", restate.WithEnableLazyState(true)).
		Handler("all", restate.NewObjectHandler(allState)).
		Handler("keys", restate.NewObjectSharedHandler(keys))
}

func add(ctx restate.ObjectContext, n int) (int, error) {
	count, err := restate.Get[int](ctx, "count")
	if err != nil {
		return 0, err
	}
	restate.Set(ctx, "count", count+n)
	return count + n, nil
}

func set(ctx restate.ObjectContext, p pair) (restate.Void, error) {
	restate.Set(ctx, p.Key, p.Value)
	return restate.Void{}, nil
}

func get(ctx restate.ObjectSharedContext, key string) (*string, error) {
	return restate.Get[*string](ctx, key)
}

func keys(ctx restate.ObjectSharedContext, _ restate.Void) ([]string, error) {
	found, err := restate.Keys(ctx)
	slices.Sort(found)
	return found, err
}

func clearOne(ctx restate.ObjectContext, key string) (restate.Void, error) {
	restate.Clear(ctx, key)
	return restate.Void{}, nil
}

func clearAll(ctx restate.ObjectContext, _ restate.Void) (restate.Void, error) {
	restate.ClearAll(ctx)
	return restate.Void{}, nil
}

// allState uses every state operation, across a suspension.
func allState(ctx restate.ObjectContext, _ restate.Void) ([]string, error) {
	var out []string
	say := func(value any, err error) { out = append(out, fmt.Sprint(value, told(err))) }
	restate.ClearAll(ctx)
	say(restate.Keys(ctx))
	none, err := restate.Get[*string](ctx, "none")
	say(none == nil, err)
	restate.Set(ctx, "text", "übermäßig")
	restate.Set(ctx, "bytes", []byte{0, 254}, restate.WithBinary)
	restate.Set(ctx, "empty", []byte{}, restate.WithBinary)
	restate.Set(ctx, "gone", 1)
	restate.Clear(ctx, "gone")
	if err := restate.Sleep(ctx, 300*time.Millisecond); err != nil {
		return nil, err
	}
	found, err := restate.Keys(ctx)
	slices.Sort(found)
	say(found, err)
	say(restate.Get[string](ctx, "text"))
	say(restate.Get[[]byte](ctx, "bytes", restate.WithBinary))
	say(restate.Get[[]byte](ctx, "empty", restate.WithBinary))
	say(restate.Get[int](ctx, "gone"))
	say(restate.Key(ctx), nil)
	return out, nil
}

// hold keeps the key busy until an awakeable, told in the state of "ids", is ended.
func hold(ctx restate.ObjectContext, _ restate.Void) (string, error) {
	awakeable := restate.Awakeable[string](ctx)
	restate.Set(ctx, "awakeable", awakeable.Id())
	return awakeable.Result()
}

func flow() restate.ServiceDefinition {
	return restate.NewWorkflow("GoFlow", restate.WithWorkflowRetention(time.Hour)).
		Handler("run", restate.NewWorkflowHandler(run, restate.WithWorkflowRetention(3*time.Hour))).
		Handler("peek", restate.NewWorkflowSharedHandler(peek)).
		Handler("status", restate.NewWorkflowSharedHandler(status)).
		Handler("resolve", restate.NewWorkflowSharedHandler(resolve)).
		Handler("reject", restate.NewWorkflowSharedHandler(reject)).
		Handler("await", restate.NewWorkflowSharedHandler(await))
}

func run(ctx restate.WorkflowContext, input string) (string, error) {
	restate.Set(ctx, "status", "waiting")
	value, err := restate.Promise[string](ctx, "answer").Result()
	restate.Set(ctx, "status", "done")
	return input + " " + value + told(err), nil
}

func peek(ctx restate.WorkflowSharedContext, _ restate.Void) (string, error) {
	value, err := restate.Promise[*string](ctx, "answer").Peek()
	if err != nil || value == nil {
		return "none" + told(err), nil
	}
	return *value, nil
}

func status(ctx restate.WorkflowSharedContext, _ restate.Void) (string, error) {
	return restate.Get[string](ctx, "status")
}

func resolve(ctx restate.WorkflowSharedContext, value string) (bool, error) {
	if err := restate.Promise[string](ctx, "answer").Resolve(value); err != nil {
		return false, err
	}
	return true, nil
}

func reject(ctx restate.WorkflowSharedContext, why string) (bool, error) {
	reason := restate.ToTerminalError(errors.New(why), restate.WithErrorCode(403), restate.WithMetadata("re", "jected"))
	if err := restate.Promise[string](ctx, "answer").Reject(reason); err != nil {
		return false, err
	}
	return true, nil
}

func await(ctx restate.WorkflowSharedContext, _ restate.Void) (string, error) {
	value, err := restate.Promise[string](ctx, "answer").Result()
	return value + told(err), nil
}
