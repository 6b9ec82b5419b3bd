//! State of an object, in exclusive and shared handlers.
use restate_sdk::prelude::*;

pub struct RustObject;

#[object(journal_retention = "2h", invocation_retry_policy(initial_interval = "30ms"))]
impl RustObject {
    #[handler]
    async fn add(&self, ctx: ObjectContext<'_>, number: i64) -> HandlerResult<i64> {
        let sum = ctx.get::<i64>("sum").await?.unwrap_or(0) + number;
        ctx.set("sum", sum);
        Ok(sum)
    }

    #[handler]
    async fn sum(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Option<i64>>> {
        Ok(Json(ctx.get::<i64>("sum").await?))
    }

    #[handler]
    async fn note(&self, ctx: ObjectContext<'_>, text: String) -> HandlerResult<()> {
        ctx.set("note", text);
        Ok(())
    }

    #[handler]
    async fn noted(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Option<String>> {
        Ok(ctx.get("note").await?)
    }

    /// Sets, gets, clears, lists.
    #[handler]
    async fn tour(&self, ctx: ObjectContext<'_>) -> HandlerResult<Json<Vec<String>>> {
        Ok(Json(tour(&ctx).await?))
    }

    /// The same, without the state that is sent ahead.
    #[handler(lazy_state)]
    async fn lazy_tour(&self, ctx: ObjectContext<'_>) -> HandlerResult<Json<Vec<String>>> {
        Ok(Json(tour(&ctx).await?))
    }

    /// Names and lengths of all values.
    #[handler(lazy_state = true)]
    async fn all(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Vec<(String, usize)>>> {
        let mut names = ctx.get_keys().await?;
        names.sort();
        let mut seen = vec![];
        for name in &names {
            let length = ctx.get::<Vec<u8>>(name).await?.map_or(0, |bytes| bytes.len());
            seen.push((name.clone(), length));
        }
        Ok(Json(seen))
    }

    /// Keeps so many bytes.
    #[handler]
    async fn keep(&self, ctx: ObjectContext<'_>, bytes: u32) -> HandlerResult<()> {
        ctx.set("large", vec![7u8; bytes as usize]);
        Ok(())
    }

    #[handler]
    async fn clear(&self, ctx: ObjectContext<'_>) -> HandlerResult<()> {
        ctx.clear_all();
        Ok(())
    }

    /// The key of this object.
    #[handler]
    async fn who(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<String> {
        Ok(ctx.key().to_owned())
    }
}

async fn tour(ctx: &ObjectContext<'_>) -> HandlerResult<Vec<String>> {
    let mut seen = vec![format!("{:?}", ctx.get::<String>("a").await?)];
    ctx.set("a", "first".to_owned());
    ctx.set("b", vec![0u8, 255]);
    ctx.set("\u{e9}/ %", ());
    seen.push(format!("{:?}", ctx.get::<String>("a").await?));
    seen.push(format!("{:?}", ctx.get::<Vec<u8>>("\u{e9}/ %").await?));
    ctx.clear("a");
    seen.push(format!("{:?}", ctx.get::<String>("a").await?));
    let mut names = ctx.get_keys().await?;
    names.sort();
    seen.push(names.join(","));
    ctx.clear_all();
    seen.push(format!("{:?}", ctx.get::<Vec<u8>>("b").await?));
    ctx.set("c", 3u8);
    Ok(seen)
}
