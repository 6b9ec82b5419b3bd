//! Awakeables, signals, races, cancelation: handlers that wait for somebody.
use crate::object::RustObjectClient;
use restate_sdk::prelude::*;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);

fn told(result: Result<String, TerminalError>) -> String {
    match result {
        Ok(text) => text,
        Err(error) => format!("{} {}", error.code(), error.message()),
    }
}

pub struct RustWaits;

#[service(invocation_retry_policy(initial_interval = "30ms", max_interval = "200ms"))]
impl RustWaits {
    /// Leaves the id of an awakeable with the object of that key, and waits for its end.
    #[handler]
    async fn awakeable(&self, ctx: Context<'_>, key: String) -> HandlerResult<String> {
        let (id, completed) = ctx.awakeable::<String>();
        ctx.object_client::<RustObjectClient>(key).note(id).call().await?;
        Ok(told(completed.await))
    }

    #[handler]
    async fn resolve(&self, ctx: Context<'_>, id: String) -> HandlerResult<()> {
        ctx.resolve_awakeable(&id, "from a handler".to_owned());
        Ok(())
    }

    #[handler]
    async fn reject(&self, ctx: Context<'_>, id: String) -> HandlerResult<()> {
        ctx.reject_awakeable(&id, TerminalError::new_with_code(417, "not this time"));
        Ok(())
    }

    /// Waits for two signals, the second in spite of the first.
    #[handler]
    async fn signals(&self, ctx: Context<'_>) -> HandlerResult<String> {
        let first = told(ctx.signal::<String>("first").await);
        let second = told(ctx.signal::<String>("second").await);
        Ok(format!("{first}, {second}"))
    }

    /// Ends both signals of `signals`.
    #[handler]
    async fn signal(&self, ctx: Context<'_>, id: String) -> HandlerResult<()> {
        let target = ctx.invocation_handle(id);
        target.signal("second").reject(TerminalError::new_with_code(410, "gone"));
        target.signal("first").resolve("sent".to_owned());
        Ok(())
    }

    /// A sleep, so many milliseconds long.
    #[handler]
    async fn sleep(&self, ctx: Context<'_>, ms: u64) -> HandlerResult<String> {
        ctx.sleep(Duration::from_millis(ms)).await?;
        Ok("awake".into())
    }

    /// The quicker of two, with the other still open.
    #[handler]
    async fn race(&self, ctx: Context<'_>) -> HandlerResult<String> {
        use restate_sdk::context::DurableFuture;
        let (_, never) = ctx.awakeable::<String>();
        let slow = ctx.sleep(LONG).map_ok(|_| "slow".to_owned());
        restate_sdk::select! {
            text = never => { Ok(told(text)) },
            text = slow => { Ok(told(text)) },
            _ = ctx.sleep(Duration::from_millis(30)) => { Ok("the short sleep".into()) },
        }
    }

    /// Three sleeps in the order of their ends.
    #[handler]
    async fn order(&self, ctx: Context<'_>) -> HandlerResult<Json<Vec<usize>>> {
        let mut open: DurableFuturesUnordered<_> =
            [150, 10, 80].map(|ms| ctx.sleep(Duration::from_millis(ms))).into_iter().collect();
        let mut seen = vec![];
        while let Some((index, result)) = open.next().await? {
            result?;
            seen.push(index);
        }
        Ok(Json(seen))
    }

    /// Waits for ever; what was done is undone when it is canceled.
    #[handler]
    async fn saga(&self, ctx: Context<'_>, key: String) -> HandlerResult<String> {
        let object = ctx.object_client::<RustObjectClient>(key);
        object.note("booked".into()).call().await?;
        match ctx.sleep(LONG).await {
            Ok(()) => Ok("slept".into()),
            Err(error) => {
                ctx.run(async || Ok(())).name("undo").await?;
                object.note(format!("undone after {}", error.code())).call().await?;
                Err(error.into())
            }
        }
    }

    /// Cancelation is seen within a race, and answered.
    #[handler]
    async fn on_cancel(&self, ctx: Context<'_>, key: String) -> HandlerResult<String> {
        ctx.object_client::<RustObjectClient>(key).note("racing".into()).call().await?;
        restate_sdk::select! {
            _ = ctx.sleep(LONG) => { Ok("slept".into()) },
            on_cancel => Ok("canceled, and fine".into()),
        }
    }

    /// Calls `saga`, which is canceled with its caller; or by its caller.
    #[handler]
    async fn parent(&self, ctx: Context<'_>, key: String) -> HandlerResult<String> {
        Ok(ctx.service_client::<RustWaitsClient>().saga(key).call().await?)
    }

    #[handler]
    async fn cancels(&self, ctx: Context<'_>, key: String) -> HandlerResult<String> {
        let child = ctx.service_client::<RustWaitsClient>().saga(key).send().await?;
        ctx.sleep(Duration::from_millis(150)).await?;
        child.cancel();
        Ok(told(child.attach().await))
    }

    #[handler]
    async fn cancel(&self, ctx: Context<'_>, id: String) -> HandlerResult<()> {
        ctx.invocation_handle(id).cancel();
        Ok(())
    }

    /// So many steps, each taking so long: for crashes in the middle.
    #[handler]
    async fn slow_steps(&self, ctx: Context<'_>, steps: u32) -> HandlerResult<u32> {
        let mut done = 0;
        for step in 0..steps {
            let work = async move || {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok(step)
            };
            done += ctx.run(work).name(format!("step {step}")).await?;
        }
        Ok(done)
    }
}
