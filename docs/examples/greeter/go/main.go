// The handlers of handlers.ts in Go: go run . 127.0.0.1:9080
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

// now stands in for what differs from attempt to attempt, or must not be done twice.
func now(restate.RunContext) (string, error) {
	return time.Now().UTC().Format(time.RFC3339), nil
}

func greet(ctx restate.Context, name string) (string, error) {
	// A step: its result is stored, and no later attempt does it again.
	at, err := restate.Run(ctx, now, restate.WithName("time"))
	if err != nil {
		return "", err
	}
	// It outlives this process and the server.
	if err := restate.Sleep(ctx, time.Second); err != nil {
		return "", err
	}
	return fmt.Sprintf("Hello %s, it was %s", name, at), nil
}

func main() {
	greeter := restate.NewService("Greeter").Handler("greet", restate.NewServiceHandler(greet))
	endpoint := server.NewRestate().Bind(greeter)
	if err := endpoint.Start(context.Background(), os.Args[1]); err != nil {
		panic(err)
	}
}
