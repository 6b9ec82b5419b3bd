// The handlers of handlers.ts in Go: go run . 127.0.0.1:9080
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

type order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
	Card  string `json:"card"`
}

func refused(code restate.Code, why string) restate.TerminalError {
	return restate.ToTerminalError(errors.New(why), restate.WithErrorCode(code))
}

// charge stands in for the API of a bank. A payment has an id, so that charging twice charges once.
func charge(payment, card string) (string, error) {
	if card == "stolen" {
		return "", refused(402, "The card was declined")
	}
	return fmt.Sprintf("charged %s, payment %s", card, payment[:8]), nil
}

func add(ctx restate.ObjectContext, count int) (int, error) {
	left, err := restate.Get[int](ctx, "left")
	if err == nil {
		restate.Set(ctx, "left", left+count)
	}
	return left + count, err
}

func reserve(ctx restate.ObjectContext, count int) (restate.Void, error) {
	left, err := restate.Get[int](ctx, "left")
	if err == nil && left < count {
		err = refused(409, fmt.Sprintf("Only %d left", left))
	}
	if err == nil {
		restate.Set(ctx, "left", left-count)
	}
	return restate.Void{}, err
}

func left(ctx restate.ObjectSharedContext, _ restate.Void) (int, error) {
	return restate.Get[int](ctx, "left")
}

func place(ctx restate.Context, in order) (_ string, err error) {
	payment := restate.UUID(ctx).String()
	var undo []func() error
	defer func() {
		// Other errors are tried again. These are final: declined, canceled, thrown by a callee.
		if err == nil || !restate.IsTerminalError(err) {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			if failed := undo[i](); failed != nil {
				err = failed
				return
			}
		}
	}()

	if _, err = restate.Object[restate.Void](ctx, "Stock", in.Item, "reserve").Request(in.Count); err != nil {
		return "", err
	}
	undo = append(undo, func() error {
		_, err := restate.Object[int](ctx, "Stock", in.Item, "add").Request(in.Count)
		return err
	})
	receipt, err := restate.Run(ctx, func(restate.RunContext) (string, error) {
		return charge(payment, in.Card)
	}, restate.WithName("charge"))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %s: %s", in.Count, in.Item, receipt), nil
}

func main() {
	stock := restate.NewObject("Stock").
		Handler("add", restate.NewObjectHandler(add)).
		Handler("reserve", restate.NewObjectHandler(reserve)).
		Handler("left", restate.NewObjectSharedHandler(left))
	orders := restate.NewService("Orders").Handler("place", restate.NewServiceHandler(place))
	endpoint := server.NewRestate().Bind(stock).Bind(orders)
	if err := endpoint.Start(context.Background(), os.Args[1]); err != nil {
		panic(err)
	}
}
