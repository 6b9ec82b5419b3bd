// The handlers of handlers.ts in Go: go run . 127.0.0.1:9080
package main

import (
	"context"
	"os"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

// A device that sends nothing for so long is offline.
const offlineAfter = 2 * time.Second

type status struct {
	Count    int  `json:"count"`
	IsOnline bool `json:"isOnline"`
}

// measured is something that the device measured. It sets the timer anew.
func measured(ctx restate.ObjectContext, value float64) (status, error) {
	count, err := restate.Get[int](ctx, "count")
	if err != nil {
		return status{}, err
	}
	count++
	restate.Set(ctx, "count", count)
	restate.Set(ctx, "last", value)
	restate.Set(ctx, "isOnline", true)
	restate.ObjectSend(ctx, "Device", restate.Key(ctx), "timeOver").
		Send(count, restate.WithDelay(offlineAfter))
	return status{count, true}, nil
}

// timeOver is the timer of a measurement. It does nothing if there was a later one.
func timeOver(ctx restate.ObjectContext, count int) (restate.Void, error) {
	now, err := restate.Get[int](ctx, "count")
	if err == nil && now == count {
		restate.Set(ctx, "isOnline", false)
	}
	return restate.Void{}, err
}

func readStatus(ctx restate.ObjectSharedContext, _ restate.Void) (status, error) {
	count, err := restate.Get[int](ctx, "count")
	if err != nil {
		return status{}, err
	}
	isOnline, err := restate.Get[bool](ctx, "isOnline")
	return status{count, isOnline}, err
}

func main() {
	device := restate.NewObject("Device").
		Handler("measured", restate.NewObjectHandler(measured)).
		Handler("timeOver", restate.NewObjectHandler(timeOver)).
		Handler("status", restate.NewObjectSharedHandler(readStatus))
	if err := server.NewRestate().Bind(device).Start(context.Background(), os.Args[1]); err != nil {
		panic(err)
	}
}
