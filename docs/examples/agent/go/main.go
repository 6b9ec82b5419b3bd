// The handlers of handlers.ts in Go: go run . 127.0.0.1:9080
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

type message struct{ Role, Text string }

type move struct{ Tool, Input, Say string }

// part is what callers read: what the agent says and does, and approvals that it waits for.
type part struct {
	Text string `json:"text"`
	// The id of the awakeable that a human resolves with true or false.
	Approval string `json:"approval,omitempty"`
	IsLast   bool   `json:"isLast,omitempty"`
}

const movesMax = 20

var (
	tools = map[string]func(string) string{
		"findFlight": func(city string) string { return "flight F7 to " + city },
		"book":       func(flight string) string { return "booked " + flight },
	}
	// Nobody but a human lets the agent spend money.
	needsApproval = []string{"book"}
)

func textsOf(conversation []message, role string) (texts []string) {
	for _, one := range conversation {
		if one.Role == role {
			texts = append(texts, one.Text)
		}
	}
	return texts
}

// model stands in for a language model: it gets the conversation, and answers with its next move.
func model(conversation []message) move {
	heard, said := textsOf(conversation, "tool"), textsOf(conversation, "agent")
	switch {
	case len(heard) == 0:
		return move{Tool: "findFlight", Input: conversation[0].Text}
	case len(heard) == 1:
		return move{Tool: "book", Input: heard[0]}
	case len(said) == 0:
		return move{Say: "Here is what I did:"}
	case len(said) == 1:
		return move{Say: heard[1] + "."}
	}
	return move{}
}

// run is one run of the agent: the number of parts that it has shown.
type run struct {
	ctx   restate.WorkflowContext
	parts int
}

func (r *run) show(shown part) error {
	name := fmt.Sprintf("part %d", r.parts)
	r.parts++
	return restate.Promise[part](r.ctx, name).Resolve(shown)
}

func (r *run) use(next move) (string, error) {
	if slices.Contains(needsApproval, next.Tool) {
		approval := restate.Awakeable[bool](r.ctx)
		question := fmt.Sprintf("May I use %s: %s?", next.Tool, next.Input)
		if err := r.show(part{Text: question, Approval: approval.Id()}); err != nil {
			return "", err
		}
		if isAllowed, err := approval.Result(); err != nil || !isAllowed {
			return "was not allowed to " + next.Tool, err
		}
	} else if err := r.show(part{Text: next.Tool + ": " + next.Input}); err != nil {
		return "", err
	}
	return restate.Run(r.ctx, func(restate.RunContext) (string, error) {
		if tool, ok := tools[next.Tool]; ok {
			return tool(next.Input), nil
		}
		return "There is no tool " + next.Tool, nil
	}, restate.WithName(next.Tool))
}

func start(ctx restate.WorkflowContext, task string) (string, error) {
	conversation := []message{{"user", task}}
	r := &run{ctx: ctx}
	for range movesMax {
		next, err := restate.Run(ctx, func(restate.RunContext) (move, error) {
			return model(conversation), nil
		}, restate.WithName("model"))
		if err != nil {
			return "", err
		}
		if next == (move{}) {
			break
		}
		var failed error
		said := message{"agent", next.Say}
		if next.Say != "" {
			failed = r.show(part{Text: next.Say})
		} else {
			said.Role = "tool"
			said.Text, failed = r.use(next)
		}
		if failed != nil {
			return "", failed
		}
		conversation = append(conversation, said)
	}
	err := r.show(part{IsLast: true})
	return strings.Join(textsOf(conversation, "agent"), " "), err
}

// read gives the part of this number, as soon as there is one.
func read(ctx restate.WorkflowSharedContext, at int) (part, error) {
	return restate.Promise[part](ctx, fmt.Sprintf("part %d", at)).Result()
}

func main() {
	agent := restate.NewWorkflow("Agent").
		Handler("run", restate.NewWorkflowHandler(start)).
		Handler("read", restate.NewWorkflowSharedHandler(read))
	endpoint := server.NewRestate().Bind(agent)
	if err := endpoint.Start(context.Background(), os.Args[1]); err != nil {
		panic(err)
	}
}
