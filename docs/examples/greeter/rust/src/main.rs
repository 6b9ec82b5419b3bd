//! The handlers of handlers.ts in Rust: cargo run -- 127.0.0.1:9080
use restate_sdk::prelude::*;
use std::time::{Duration, SystemTime};

/// Stands in for what differs from attempt to attempt, or must not be done twice.
fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

struct Greeter;

#[service]
impl Greeter {
    #[handler]
    async fn greet(&self, ctx: Context<'_>, name: String) -> HandlerResult<String> {
        // A step: its result is stored, and no later attempt does it again.
        let time = ctx.run(async || Ok(now())).name("time").await?;
        // It outlives this process and the server.
        ctx.sleep(Duration::from_secs(1)).await?;
        Ok(format!("Hello {name}, it was {time}"))
    }
}

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("an address to listen on");
    HttpServer::new(Endpoint::builder().bind(Greeter).build())
        .listen_and_serve(address.parse().expect("an address to listen on"))
        .await;
}
