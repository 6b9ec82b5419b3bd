//! The endpoint of the checks: everything the SDK offers, on two ports: `PORT` (bidirectional, h2c)
//! and the port after it (request-response, HTTP/1.1 and h2c). `IDENTITY_KEY` makes it refuse
//! requests that are not signed.
mod client;
mod flow;
mod object;
mod payloads;
mod plain;
mod waits;

use restate_sdk::prelude::*;
use std::convert::Infallible;
use std::time::Duration;
use tokio::net::TcpListener;

fn endpoint() -> Endpoint {
    let builder = Endpoint::builder()
        .bind(plain::RustPlain)
        .bind(waits::RustWaits)
        .bind(object::RustObject)
        .bind(flow::RustFlow)
        .bind(client::RustClient)
        .bind(
            payloads::RustPayloads.into_service_definition().options(
                ServiceOptions::new()
                    .metadata("team", "checks")
                    .inactivity_timeout(Duration::from_millis(30_500))
                    .journal_retention(Duration::from_secs(3600))
                    .retry_policy_initial_interval(Duration::from_millis(50))
                    .retry_policy_exponentiation_factor(1.5)
                    .retry_policy_max_interval(Duration::from_millis(400))
                    .handler(
                        "raw",
                        HandlerOptions::new()
                            .metadata("of", "the handler")
                            .abort_timeout(Duration::from_secs(90))
                            .idempotency_retention(Duration::from_secs(7200)),
                    ),
            ),
        );
    match std::env::var("IDENTITY_KEY") {
        Ok(key) => builder.identity_key(&key).expect("a public key"),
        Err(_) => builder,
    }
    .build()
}

async fn serve_request_response(listener: TcpListener, endpoint: Endpoint) {
    use hyper_util::rt::{TokioExecutor, TokioIo};
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let endpoint = endpoint.clone();
        let answer = hyper::service::service_fn(move |request| {
            let mode = HandleOptions { protocol_mode: ProtocolMode::RequestResponse };
            std::future::ready(Ok::<_, Infallible>(endpoint.handle_with_options(request, mode)))
        });
        tokio::spawn(async move {
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

#[tokio::main]
async fn main() {
    let port: u16 = std::env::var("PORT").ok().and_then(|p| p.parse().ok()).unwrap_or(9080);
    let second = TcpListener::bind(("127.0.0.1", port + 1)).await.expect("the second port");
    tokio::spawn(serve_request_response(second, endpoint()));
    let first = TcpListener::bind(("127.0.0.1", port)).await.expect("the port");
    HttpServer::new(endpoint()).serve(first).await;
}
