//! The handlers of handlers.ts in Rust: cargo run -- 127.0.0.1:9080
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A device that sends nothing for so long is offline.
const OFFLINE_AFTER: Duration = Duration::from_secs(2);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    count: u64,
    is_online: bool,
}

struct Device;

#[object]
impl Device {
    /// Something that the device measured. Sets the timer anew.
    #[handler]
    async fn measured(&self, ctx: ObjectContext<'_>, value: f64) -> HandlerResult<Json<Status>> {
        let count = ctx.get::<u64>("count").await?.unwrap_or(0) + 1;
        ctx.set("count", count);
        ctx.set("last", value);
        ctx.set("isOnline", true);
        ctx.object_client::<DeviceClient>(ctx.key()).time_over(count).send_after(OFFLINE_AFTER);
        Ok(Json(Status { count, is_online: true }))
    }

    /// The timer of a measurement. It does nothing if there was a later one.
    #[handler(name = "timeOver")]
    async fn time_over(&self, ctx: ObjectContext<'_>, count: u64) -> HandlerResult<()> {
        if ctx.get::<u64>("count").await? == Some(count) {
            ctx.set("isOnline", false);
        }
        Ok(())
    }

    #[handler]
    async fn status(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Status>> {
        Ok(Json(Status {
            count: ctx.get("count").await?.unwrap_or(0),
            is_online: ctx.get("isOnline").await?.unwrap_or(false),
        }))
    }
}

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("an address to listen on");
    HttpServer::new(Endpoint::builder().bind(Device).build())
        .listen_and_serve(address.parse().expect("an address to listen on"))
        .await;
}
