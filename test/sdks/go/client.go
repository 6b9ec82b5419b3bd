package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/ingress"
)

type seen struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

func ended(err error) string {
	if err == nil {
		return ""
	}
	var notFound *ingress.InvocationNotFoundError
	var notReady *ingress.InvocationNotReadyError
	var failed ingress.Error
	switch {
	case errors.As(err, &notFound):
		return fmt.Sprintf(" not found: %d %s", notFound.Code(), notFound.Message())
	case errors.As(err, &notReady):
		return fmt.Sprintf(" not ready: %d %s", notReady.Code(), notReady.Message())
	case errors.As(err, &failed):
		return fmt.Sprintf(" failed: %d %s, by the invocation: %v, terminal: %v", failed.Code(), failed.Message(), failed.IsInvocationError(), restate.IsTerminalError(err))
	}
	return " other: " + err.Error()
}

// drive uses all that the ingress package offers; run makes its keys unlike those of other runs.
func drive(ctx context.Context, uri string, run string) (out []seen) {
	token := os.Getenv("TOKEN")
	if token == "" {
		token = "nobody asks"
	}
	c := ingress.NewClient(uri, ingress.WithAuthKey(token), ingress.WithHttpClient(&http.Client{Timeout: time.Minute}))
	say := func(what string, value any, err error) {
		out = append(out, seen{what, strings.ReplaceAll(fmt.Sprint(value)+ended(err), run, "RUN")})
	}
	hidden := func(text string, id string) string { return strings.ReplaceAll(text, id, "ID") }

	text, err := ingress.Service[string, string](c, name, "echo").Request(ctx, "hi")
	say("call", text, err)
	_, err = ingress.Service[restate.Void, restate.Void](c, name, "void").Request(ctx, restate.Void{})
	say("call void", "", err)
	bytes, err := ingress.Service[[]byte, []byte](c, name, "raw").Request(ctx, []byte{1, 2}, restate.WithBinary)
	say("call bytes", bytes, err)
	text, err = ingress.Service[string, string](c, name, "rot").Request(ctx, "hi", restate.WithCodec(rot13{}))
	say("call own codec", text, err)
	_, err = ingress.Service[string, string](c, name, "echo").Request(ctx, "hi", restate.WithCodec(rot13{}))
	say("call other content type", "", err)
	asked, err := ingress.Service[restate.Void, map[string]any](c, name, "request").Request(ctx, restate.Void{}, restate.WithIdempotencyKey("k "+run), restate.WithHeaders(map[string]string{"x-one": "1"}))
	say("call options", fmt.Sprint(asked["key"], asked["x-one"]), err)
	_, err = ingress.Service[failure, restate.Void](c, name, "fail").Request(ctx, failure{Code: 409, Message: "taken", Metadata: map[string]string{"a": "b"}})
	say("call that fails", "", err)
	_, err = ingress.Service[failure, restate.Void](c, name, "fail").Request(ctx, failure{Code: 404, Message: "lost"})
	say("call that fails as not found", "", err)
	_, err = ingress.Service[string, string](c, name, "private").Request(ctx, "hi")
	say("call private", "", err)
	_, err = ingress.Service[string, string](c, name, "nothing").Request(ctx, "hi")
	say("call no handler", "", err)
	_, err = ingress.Service[string, string](c, "Nobody", "nothing").Request(ctx, "hi")
	say("call no service", "", err)
	count, err := ingress.Object[int, int](c, "GoObject", run, "add").Request(ctx, 3)
	say("object", count, err)

	sent, err := ingress.Service[string, string](c, name, "echo").Send(ctx, "sent", restate.WithIdempotencyKey("send"+run), restate.WithDelay(200*time.Millisecond))
	say("send", sent.Status(), err)
	again, err := ingress.ServiceSend[string](c, name, "echo").Send(ctx, "other", restate.WithIdempotencyKey("send"+run))
	say("send again", fmt.Sprint(again.Status(), " ", again.Id() == sent.Id()), err)
	text, err = sent.Attach(ctx)
	say("attach", text, err)
	text, err = sent.Output(ctx)
	say("output", text, err)
	text, err = ingress.ServiceInvocationByIdempotencyKey[string](c, name, "echo", "send"+run).Attach(ctx)
	say("attach by key", text, err)
	text, err = ingress.ServiceInvocationByIdempotencyKey[string](c, name, "echo", "send"+run).Output(ctx)
	say("output by key", text, err)
	_, err = ingress.ServiceInvocationByIdempotencyKey[string](c, name, "echo", "no"+run).Output(ctx)
	say("output by no key", "", err)
	_, err = ingress.ServiceInvocationByIdempotencyKey[string](c, name, "echo", "no"+run).Attach(ctx)
	say("attach by no key", "", err)
	nap, err := ingress.Service[int, string](c, name, "nap").Send(ctx, 500)
	say("send nap", nap.Status(), err)
	_, err = nap.Output(ctx)
	say("output too early", hidden(ended(err), nap.Id()), nil)
	text, err = ingress.InvocationById[string](c, nap.Id()).Attach(ctx)
	say("attach by id", text, err)
	_, err = ingress.InvocationById[string](c, "inv_1nonsense").Attach(ctx)
	say("attach to nonsense", "", err)
	failing, err := ingress.Service[failure, restate.Void](c, name, "fail").Send(ctx, failure{Code: 512, Message: "far"})
	say("send failing", failing.Status(), err)
	_, err = failing.Attach(ctx)
	say("attach failing", "", err)
	_, err = ingress.ObjectSend[int](c, "GoObject", run, "add").Send(ctx, 4, restate.WithIdempotencyKey("o"))
	say("object send", "", err)
	count, err = ingress.ObjectInvocationByIdempotencyKey[int](c, "GoObject", run, "add", "o").Attach(ctx)
	say("object attach by key", count, err)
	count, err = ingress.ObjectInvocationByIdempotencyKey[int](c, "GoObject", run, "add", "o").Output(ctx)
	say("object output by key", count, err)

	flow, err := ingress.WorkflowSend[string](c, "GoFlow", run, "run").Send(ctx, "go")
	say("workflow submit", flow.Status(), err)
	flow, err = ingress.WorkflowSend[string](c, "GoFlow", run, "run").Send(ctx, "again")
	say("workflow submit again", flow.Status(), err)
	_, err = ingress.WorkflowHandle[string](c, "GoFlow", run).Output(ctx)
	say("workflow output too early", hidden(ended(err), flow.Id()), nil)
	done, err := ingress.Workflow[string, bool](c, "GoFlow", run, "resolve").Request(ctx, "yes")
	say("workflow resolve", done, err)
	text, err = ingress.WorkflowHandle[string](c, "GoFlow", run).Attach(ctx)
	say("workflow attach", text, err)
	text, err = ingress.WorkflowHandle[string](c, "GoFlow", run).Output(ctx)
	say("workflow output", text, err)
	_, err = ingress.WorkflowHandle[string](c, "GoFlow", "no"+run).Output(ctx)
	say("no workflow output", "", err)
	_, err = ingress.Workflow[string, string](c, "GoFlow", run, "run").Request(ctx, "third")
	say("workflow run again", "", err)
	_, err = ingress.Workflow[string, string](c, "GoFlow", run, "run").Request(ctx, "x", restate.WithIdempotencyKey("k"))
	say("workflow with key", "", err)
	_, err = ingress.Service[string, string](c, name, "echo", restate.WithScope("s")).Request(ctx, "hi", restate.WithLimitKey("l"))
	say("scope", "", err)
	_, err = ingress.Service[string, string](c, name, "echo").Request(ctx, "hi", restate.WithLimitKey("l"))
	say("limit key without scope", "", err)
	_, err = ingress.Service[string, json.RawMessage](c, name, "request").Request(ctx, "not void")
	say("input where none is taken", "", err)
	return out
}
