//! The handlers of handlers.ts in Rust: cargo run -- 127.0.0.1:9080
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Order {
    item: String,
    count: i64,
    card: String,
}

/// Stands in for the API of a bank. A payment has an id, so that charging twice charges once.
fn charge(payment: &str, card: &str) -> HandlerResult<String> {
    if card == "stolen" {
        return Err(TerminalError::new_with_code(402, "The card was declined").into());
    }
    Ok(format!("charged {card}, payment {}", &payment[..8]))
}

struct Stock;

#[object]
impl Stock {
    #[handler]
    async fn add(&self, ctx: ObjectContext<'_>, count: i64) -> HandlerResult<i64> {
        let left = ctx.get::<i64>("left").await?.unwrap_or(0) + count;
        ctx.set("left", left);
        Ok(left)
    }

    #[handler]
    async fn reserve(&self, ctx: ObjectContext<'_>, count: i64) -> HandlerResult<()> {
        let left = ctx.get::<i64>("left").await?.unwrap_or(0);
        if left < count {
            return Err(TerminalError::new_with_code(409, format!("Only {left} left")).into());
        }
        ctx.set("left", left - count);
        Ok(())
    }

    #[handler]
    async fn left(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<i64> {
        Ok(ctx.get::<i64>("left").await?.unwrap_or(0))
    }
}

struct Orders;

#[service]
impl Orders {
    #[handler]
    async fn place(&self, mut ctx: Context<'_>, order: Json<Order>) -> HandlerResult<String> {
        let Json(Order { item, count, card }) = order;
        let payment = ctx.rand_uuid().to_string();
        let shelf = || ctx.object_client::<StockClient>(item.clone());
        shelf().reserve(count).call().await?;
        let charged = ctx.run(async move || charge(&payment, &card)).name("charge").await;
        match charged {
            Ok(receipt) => Ok(format!("{count} {item}: {receipt}")),
            // Other errors are tried again. This one is final: declined, or canceled.
            Err(error) => {
                shelf().add(count).call().await?;
                Err(error.into())
            }
        }
    }
}

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("an address to listen on");
    HttpServer::new(Endpoint::builder().bind(Orders).bind(Stock).build())
        .listen_and_serve(address.parse().expect("an address to listen on"))
        .await;
}
