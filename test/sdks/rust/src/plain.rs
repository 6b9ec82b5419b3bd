//! Steps, failures, calls and what a handler can know about itself.
use crate::object::RustObjectClient;
use crate::payloads::RustPayloadsClient;
use restate_sdk::prelude::*;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

static COUNTS: Mutex<Option<HashMap<String, u32>>> = Mutex::new(None);

/// How often this was called with the same name, since the process started.
fn count(name: &str) -> u32 {
    let mut counts = COUNTS.lock().expect("nobody panics in here");
    let seen = counts.get_or_insert_default().entry(name.to_owned()).or_insert(0);
    *seen += 1;
    *seen
}

fn quick_policy() -> RunRetryPolicy {
    RunRetryPolicy::new()
        .initial_delay(Duration::from_millis(20))
        .exponentiation_factor(1.5)
        .max_delay(Duration::from_millis(60))
}

pub struct RustPlain;

/// Everything that needs no key.
#[service(
    inactivity_timeout = "1m",
    abort_timeout = "30s",
    journal_retention = "1 day",
    invocation_retry_policy(initial_interval = "30ms", max_interval = "200ms", factor = 2.0)
)]
impl RustPlain {
    /// Returns what it got.
    #[handler]
    pub async fn echo(&self, _ctx: Context<'_>, input: String) -> HandlerResult<String> {
        Ok(input)
    }

    #[handler(ingress_private)]
    async fn hidden(&self, _ctx: Context<'_>) -> HandlerResult<String> {
        Ok("found".into())
    }

    /// A named step, one without name, one with a typed result, and a sleep between.
    #[handler]
    async fn steps(&self, ctx: Context<'_>) -> HandlerResult<Json<Vec<u32>>> {
        let one = ctx.run(async || Ok(1u32)).name("one").await?;
        let two = ctx.run(async || Ok(2u32)).await?;
        ctx.sleep(Duration::from_millis(20)).await?;
        let Json(list) = ctx.run(async move || Ok(Json(vec![one, two]))).name("list").await?;
        ctx.run(async || Ok(())).name("nothing").await?;
        Ok(Json(list))
    }

    /// A step that fails terminally, seen and passed on.
    #[handler]
    async fn step_fails(&self, ctx: Context<'_>, pass_on: bool) -> HandlerResult<String> {
        let failed = ctx
            .run(async || Err::<u32, _>(TerminalError::new_with_code(418, "a teapot").into()))
            .name("fails")
            .await;
        match failed {
            Err(error) if pass_on => Err(error.into()),
            Err(error) => Ok(format!("{} {}", error.code(), error.message())),
            Ok(number) => Ok(number.to_string()),
        }
    }

    /// A step that works the third time.
    #[handler]
    async fn step_retries(&self, ctx: Context<'_>) -> HandlerResult<u32> {
        let id = ctx.invocation_id().to_owned();
        let work = async move || match count(&id) {
            seen @ 3.. => Ok(seen),
            seen => Err(std::io::Error::other(format!("not the {seen}. time")).into()),
        };
        Ok(ctx.run(work).name("third").retry_policy(quick_policy()).await?)
    }

    /// A step whose attempts run out.
    #[handler]
    async fn step_gives_up(&self, ctx: Context<'_>) -> HandlerResult<String> {
        let work = async || Err::<u32, _>(std::io::Error::other("never works").into());
        let policy = quick_policy().max_attempts(3);
        match ctx.run(work).name("never").retry_policy(policy).await {
            Err(error) => Ok(format!("{} {}", error.code(), error.message())),
            Ok(number) => Ok(number.to_string()),
        }
    }

    /// A step whose time runs out.
    #[handler]
    async fn step_times_out(&self, ctx: Context<'_>) -> HandlerResult<String> {
        let work = async || Err::<u32, _>(std::io::Error::other("too slow").into());
        let policy = quick_policy().max_duration(Duration::from_millis(150));
        let failed = ctx.run(work).retry_policy(policy).await;
        Ok(failed.map_or_else(|error| error.message().to_owned(), |number| number.to_string()))
    }

    /// Fails so often, then answers with the attempt that worked.
    #[handler]
    async fn flaky(&self, ctx: Context<'_>, failures: u32) -> HandlerResult<u32> {
        ctx.run(async || Ok("kept".to_owned())).name("before").await?;
        let attempt = count(ctx.invocation_id());
        if attempt <= failures {
            return Err(std::io::Error::other(format!("attempt {attempt} failed")).into());
        }
        Ok(attempt)
    }

    /// Its future panics the first time: the stream breaks off without a word.
    #[handler]
    async fn panics_once(&self, ctx: Context<'_>) -> HandlerResult<u32> {
        let attempt = count(ctx.invocation_id());
        assert!(attempt > 1, "a panic on purpose");
        Ok(attempt)
    }

    #[handler(invocation_retry_policy(max_attempts = 2, on_max_attempts = "kill"))]
    async fn killed(&self, _ctx: Context<'_>) -> HandlerResult<()> {
        Err(std::io::Error::other("fails until killed").into())
    }

    #[handler(invocation_retry_policy(max_attempts = 2, on_max_attempts = "pause"))]
    async fn paused(&self, ctx: Context<'_>) -> HandlerResult<u32> {
        match count(ctx.invocation_id()) {
            attempt @ 3.. => Ok(attempt),
            attempt => Err(std::io::Error::other(format!("attempt {attempt} failed")).into()),
        }
    }

    /// Fails terminally, with the code that was asked for.
    #[handler]
    async fn fails(&self, _ctx: Context<'_>, code: u16) -> HandlerResult<String> {
        Err(TerminalError::new_with_code(code, format!("code {code}, \"quoted\" \u{e9}")).into())
    }

    /// Each kind of call.
    #[handler]
    async fn calls(&self, ctx: Context<'_>, key: String) -> HandlerResult<Json<Vec<String>>> {
        let client = ctx.service_client::<RustPlainClient>();
        let object = ctx.object_client::<RustObjectClient>(&key);
        let direct = client.echo("direct".into()).header("x-of-call".into(), "yes".into());
        let keyed = || client.echo("keyed".into()).idempotency_key(format!("{key}-again"));
        let mut seen = vec![direct.call().await?, keyed().call().await?, keyed().call().await?];
        seen.push(object.add(5).call().await?.to_string());
        seen.push(client.hidden().call().await?);
        ctx.service_client::<RustPayloadsClient>().nothing().call().await?;
        seen.push(match client.fails(423).call().await {
            Ok(text) => text,
            Err(error) => format!("{} {}", error.code(), error.message()),
        });
        let target = restate_sdk::context::RequestTarget::service("RustPlain", "echo");
        seen.push(ctx.request::<String, String>(target, "untyped".into()).call().await?);
        Ok(Json(seen))
    }

    /// Each kind of send; the handles attach to what was sent.
    #[handler]
    async fn sends(&self, ctx: Context<'_>, key: String) -> HandlerResult<Json<Vec<String>>> {
        let client = ctx.service_client::<RustPlainClient>();
        let object = ctx.object_client::<RustObjectClient>(&key);
        object.add(1).send();
        object.add(2).send_after(Duration::from_millis(60));
        let sent = client.headers().header("x-sent".into(), "1".into()).send().await?;
        let late = client.echo("late".into()).send_after(Duration::from_millis(80)).await?;
        let key_of = |text: &str| format!("{key}-{text}");
        let once = client.echo("once".into()).idempotency_key(key_of("once")).send().await?;
        let twice = client.echo("twice".into()).idempotency_key(key_of("once")).send().await?;
        let same = once.invocation_id() == twice.invocation_id();
        let called = client.echo("called".into()).call();
        let handle = called.invocation_handle().await?;
        let mut seen = vec![sent.attach::<String>().await?, late.attach().await?];
        seen.extend([twice.attach().await?, same.to_string(), called.await?]);
        seen.push(ctx.invocation_handle(handle.invocation_id().into()).attach().await?);
        let failed = client.fails(409).send().await?.attach::<String>().await;
        seen.push(failed.map_or_else(|error| format!("{error}"), |text| text));
        Ok(Json(seen))
    }

    /// The headers of the call that begin with `x-`, but for those of tracing, and its key.
    #[handler]
    async fn headers(&self, ctx: Context<'_>) -> HandlerResult<String> {
        let mut seen: Vec<String> = ctx
            .headers()
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("x-"))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        seen.sort();
        Ok(format!("{} key={:?}", seen.join(","), ctx.idempotency_key()))
    }

    /// Calls in parallel, in the order they end.
    #[handler]
    async fn fan(&self, ctx: Context<'_>, calls: u32) -> HandlerResult<u32> {
        let client = ctx.service_client::<RustPlainClient>();
        let mut open: DurableFuturesUnordered<_> =
            (0..calls).map(|n| client.echo(n.to_string()).call()).collect();
        let mut sum = 0;
        while let Some((index, result)) = open.next().await? {
            assert_eq!(result?, index.to_string(), "every answer belongs to its call");
            sum += index as u32;
        }
        Ok(sum)
    }

    /// Random values are the same in every attempt.
    #[handler]
    async fn random(&self, mut ctx: Context<'_>) -> HandlerResult<Json<Vec<bool>>> {
        let here = (ctx.rand_uuid().to_string(), ctx.rand().random::<u32>(), ctx.random_seed());
        let text = format!("{here:?}");
        let first = text.clone();
        let kept = ctx.run(async move || Ok(first)).name("first").await?;
        let attempt = count(ctx.invocation_id());
        if attempt == 1 {
            return Err(std::io::Error::other("once more").into());
        }
        Ok(Json(vec![kept == text, attempt > 1]))
    }

    /// Calls within a scope, with a limit key, and tells what the callee saw of them.
    #[handler]
    async fn scoped(&self, ctx: Context<'_>, scope: String) -> HandlerResult<String> {
        let client = ctx.service_client::<RustPlainClient>();
        let seen = client.scope_seen().scope(scope).limit_key("tenant/user").call().await?;
        Ok(seen)
    }

    #[handler]
    async fn scope_seen(&self, ctx: Context<'_>) -> HandlerResult<String> {
        Ok(format!("{:?} {:?}", ctx.scope().is_some(), ctx.limit_key()))
    }
}
