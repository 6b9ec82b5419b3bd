// An endpoint that uses everything the Go SDK offers, and a client that uses its ingress package.
//
// Usage: endpoint PORT [rr]. With rr it asks for request-response instead of a bidirectional stream;
// with IDENTITY_KEY it serves only requests signed by that key.
package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"

	"github.com/restatedev/sdk-go/server"
)

func main() {
	logs := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})
	bidirectional := len(os.Args) < 3 || os.Args[2] != "rr"
	endpoint := server.NewRestate().
		WithLogger(logs, true).
		Bidirectional(bidirectional).
		Bind(service()).
		Bind(inner()).
		Bind(object()).
		Bind(lazy()).
		Bind(flow())
	if key := os.Getenv("IDENTITY_KEY"); key != "" {
		endpoint.WithIdentityV1(key)
	}
	handler, err := endpoint.Handler()
	if err != nil {
		panic(err)
	}

	mux := http.NewServeMux()
	mux.Handle("/", handler)
	// The ingress client under test: drives INGRESS and answers what it saw, line by line.
	mux.HandleFunc("/client", func(w http.ResponseWriter, r *http.Request) {
		seen := drive(r.Context(), r.URL.Query().Get("ingress"), r.URL.Query().Get("run"))
		w.Header().Set("content-type", "application/json")
		_ = json.NewEncoder(w).Encode(seen)
	})

	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	listener := &http.Server{Addr: "127.0.0.1:" + os.Args[1], Handler: mux, Protocols: &protocols}
	panic(listener.ListenAndServe())
}
