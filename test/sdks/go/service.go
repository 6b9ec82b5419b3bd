package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	restate "github.com/restatedev/sdk-go"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const name = "GoService"

type failure struct {
	Code     uint16            `json:"code"`
	Message  string            `json:"message"`
	Metadata map[string]string `json:"metadata"`
}

type waited struct {
	ID    string `json:"id"`
	Value string `json:"value"`
	Error string `json:"error"`
}

var tries = struct {
	sync.Mutex
	of map[string]int
}{of: map[string]int{}}

func attempt(key string) int {
	tries.Lock()
	defer tries.Unlock()
	tries.of[key]++
	return tries.of[key]
}

func told(err error) string {
	if err == nil {
		return ""
	}
	if t := restate.AsTerminalError(err); t != nil {
		return fmt.Sprintf("%d %s %v", t.Code(), t.Message(), t.Metadata().ToMap())
	}
	return "not terminal: " + err.Error()
}

// rot13 is a codec of our own, with a content type of its own.
type rot13 struct{}

func (rot13) ContentType() string  { return "text/rot13" }
func (rot13) JsonSchema(v any) any { return nil }
func turn(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}
func (rot13) Marshal(v any) ([]byte, error) { return []byte(turn(v.(string))), nil }
func (rot13) Unmarshal(data []byte, v any) error {
	*v.(*string) = turn(string(data))
	return nil
}

// rotCharset has a content type with a parameter.
type rotCharset struct{ rot13 }

func (rotCharset) ContentType() string { return "text/rot13; charset=us-ascii" }

func service() restate.ServiceDefinition {
	return restate.NewService(
		name,
		restate.WithDocumentation("A *service* in Go"),
		restate.WithMetadata("team", "sdk"),
		restate.WithMetadataMap(map[string]string{"more": "yes"}),
		restate.WithJournalRetention(time.Hour),
		restate.WithIdempotencyRetention(2*time.Hour),
		restate.WithInvocationRetryPolicy(
			restate.WithInitialRetryInterval(20*time.Millisecond),
			restate.WithMaxRetryInterval(200*time.Millisecond),
			restate.WithRetryIntervalFactor(1.5),
			restate.WithMaxRetryAttempts(200),
			restate.PauseOnMaxAttempts(),
		),
	).
		Handler("echo", restate.NewServiceHandler(echo, restate.WithDocumentation("Says it again"), restate.WithMetadata("kind", "echo"), restate.WithInactivityTimeout(30*time.Second), restate.WithAbortTimeout(20*time.Second))).
		Handler("raw", restate.NewServiceHandler(raw, restate.WithBinary)).
		Handler("void", restate.NewServiceHandler(void)).
		Handler("rot", restate.NewServiceHandler(echo, restate.WithCodec(rot13{}))).
		Handler("rotCharset", restate.NewServiceHandler(echo, restate.WithCodec(rotCharset{}))).
		Handler("proto", restate.NewServiceHandler(proto, restate.WithProto)).
		Handler("protoJson", restate.NewServiceHandler(proto, restate.WithProtoJSON)).
		Handler("steps", restate.NewServiceHandler(steps)).
		Handler("fail", restate.NewServiceHandler(fail)).
		Handler("flaky", restate.NewServiceHandler(flaky)).
		Handler("gives_up", restate.NewServiceHandler(broken, restate.WithInvocationRetryPolicy(
			restate.WithInitialRetryInterval(10*time.Millisecond), restate.WithMaxRetryAttempts(3), restate.KillOnMaxAttempts()))).
		Handler("pauses", restate.NewServiceHandler(broken, restate.WithInvocationRetryPolicy(
			restate.WithInitialRetryInterval(10*time.Millisecond), restate.WithMaxRetryAttempts(2), restate.PauseOnMaxAttempts()))).
		Handler("nap", restate.NewServiceHandler(nap)).
		Handler("request", restate.NewServiceHandler(request)).
		Handler("calls", restate.NewServiceHandler(calls)).
		Handler("cancels", restate.NewServiceHandler(cancels)).
		Handler("compensates", restate.NewServiceHandler(compensates)).
		Handler("waits", restate.NewServiceHandler(waits)).
		Handler("ends", restate.NewServiceHandler(ends)).
		Handler("signals", restate.NewServiceHandler(signals)).
		Handler("combines", restate.NewServiceHandler(combines)).
		Handler("random", restate.NewServiceHandler(random)).
		Handler("large", restate.NewServiceHandler(large)).
		Handler("parallel", restate.NewServiceHandler(parallel)).
		Handler("scoped", restate.NewServiceHandler(scoped)).
		Handler("slowStep", restate.NewServiceHandler(slowStep)).
		Handler("private", restate.NewServiceHandler(echo, restate.WithIngressPrivate(true))).
		Handler("timeouts", restate.NewServiceHandler(nap, restate.WithInactivityTimeout(100*time.Millisecond), restate.WithAbortTimeout(5*time.Second), restate.WithJournalRetention(0), restate.WithIdempotencyRetention(time.Second)))
}

func echo(_ restate.Context, s string) (string, error) { return s, nil }

func raw(_ restate.Context, b []byte) ([]byte, error) {
	back := slices.Clone(b)
	slices.Reverse(back)
	return back, nil
}

func void(_ restate.Context, _ restate.Void) (restate.Void, error) { return restate.Void{}, nil }

func proto(_ restate.Context, s *wrapperspb.StringValue) (*wrapperspb.StringValue, error) {
	return wrapperspb.String(s.GetValue() + "!"), nil
}
