//! The SDK's ingress client, used from a handler, so that the checks need no toolchain: each handler
//! takes the base URL of an ingress and a key of its own, and returns what the client saw.
use crate::flow::RustFlowIngressClient;
use crate::object::RustObjectIngressClient;
use crate::payloads::{RustPayloadsIngressClient, Text};
use crate::plain::RustPlainIngressClient;
use crate::waits::RustWaitsIngressClient;
use restate_sdk::ingress::{ClientError, Output, RequestTarget, ReqwestClient};
use restate_sdk::prelude::*;
use std::time::Duration;

type Seen = Json<Vec<String>>;

/// How a client failed: the status and the body that the server sent.
fn told(error: ClientError) -> String {
    match error.response() {
        Some(answer) => {
            let body = String::from_utf8_lossy(answer.body()).into_owned();
            format!("{} {body}", answer.status())
        }
        None => error.to_string(),
    }
}

fn connect(url: &str) -> HandlerResult<ReqwestClient> {
    Ok(ReqwestClient::connect(url.parse()?)?)
}

fn peeked<T: std::fmt::Debug>(output: Output<T>) -> String {
    match output {
        Output::Ready(value) => format!("{value:?}"),
        Output::NotReady => "not ready".into(),
    }
}

pub struct RustClient;

#[service(
    inactivity_timeout = "10m",
    invocation_retry_policy(max_attempts = 1, on_max_attempts = "kill")
)]
impl RustClient {
    /// Calls of each kind of service, with payloads of each kind.
    #[handler]
    async fn calls(&self, _ctx: Context<'_>, input: Json<(String, String)>) -> HandlerResult<Seen> {
        let Json((url, key)) = input;
        let client = connect(&url)?;
        let plain = RustPlainIngressClient::from_client(client.clone());
        let payloads = RustPayloadsIngressClient::from_client(client.clone());
        let object = RustObjectIngressClient::from_client(client.clone(), &key);
        let answer = plain.echo("h\u{e9}".into()).call().await?;
        let handle = answer.invocation_handle();
        let status = answer.status().to_string();
        let mut seen = vec![status, answer.into_body()?];
        seen.push(format!("{:?}", handle.attach().await.err().map(told)));
        seen.push(object.add(4).call().await?.into_body()?.to_string());
        payloads.nothing().call().await?.into_body()?;
        seen.push(payloads.text(Text(" plain ".into())).call().await?.into_body()?.0);
        seen.push(format!("{:?}", payloads.raw(vec![1, 2, 255]).call().await?.into_body()?));
        seen.push(format!("{:?}", payloads.maybe(None).call().await?.into_body()?));
        seen.push(format!("{:?}", payloads.maybe(Some("up".into())).call().await?.into_body()?));
        seen.extend(plain.fails(418).call().await?.into_body().err().map(told));
        seen.extend(plain.hidden().call().await.err().map(told));
        let odd = "a /?#%\u{e9}";
        let who = RequestTarget::object("RustObject", format!("{key} {odd}"), "who");
        seen.push(client.request::<(), String>(who, ()).call().await?.into_body()?);
        let nowhere = RequestTarget::service("RustNowhere", "to go");
        seen.extend(client.request::<(), ()>(nowhere, ()).call().await.err().map(told));
        Ok(Json(seen))
    }

    /// Sends, delays, idempotency, attaching and peeking.
    #[handler]
    async fn sends(&self, _ctx: Context<'_>, input: Json<(String, String)>) -> HandlerResult<Seen> {
        let Json((url, key)) = input;
        let client = connect(&url)?;
        let plain = RustPlainIngressClient::from_client(client.clone());
        let once = || plain.echo("once".into()).idempotency_key(format!("{key}/once"));
        let first = once().send().await?;
        let second = once().send().await?;
        let same =
            first.invocation_handle().invocation_id() == second.invocation_handle().invocation_id();
        let mut seen = vec![format!("{:?} {:?} {same}", first.send_status(), second.send_status())];
        seen.push(first.invocation_handle().attach().await?.into_body());
        seen.push(once().call().await?.into_body()?);
        seen.push(peeked(second.invocation_handle().output().await?.into_body()));
        let late = plain.echo("late".into()).idempotency_key(format!("{key}/late"));
        let late = late.send_after(Duration::from_millis(250)).await?.invocation_handle();
        seen.push(peeked(late.output().await?.into_body()));
        seen.push(late.attach().await?.into_body());
        let failing = plain.fails(452).idempotency_key(format!("{key}/fails")).send().await?;
        seen.extend(failing.invocation_handle().attach().await.err().map(told));
        seen.extend(failing.invocation_handle().output().await.err().map(told));
        let unknown = client.invocation_handle::<String>("inv_1nvalid");
        seen.extend(unknown.attach().await.err().map(told));
        seen.extend(unknown.output().await.err().map(told));
        Ok(Json(seen))
    }

    /// Submitting, looking up, attaching to a workflow.
    #[handler]
    async fn workflow(
        &self,
        _ctx: Context<'_>,
        input: Json<(String, String)>,
    ) -> HandlerResult<Seen> {
        let Json((url, key)) = input;
        let flow = RustFlowIngressClient::from_client(connect(&url)?, &key);
        let submitted = flow.run("order".into()).send().await?;
        let again = flow.run("again".into()).send().await?;
        let mut seen = vec![format!("{:?} {:?}", submitted.send_status(), again.send_status())];
        let handle = flow.handle().await?;
        let same = handle.invocation_id() == submitted.invocation_handle().invocation_id();
        seen.push(format!("{same} {}", peeked(handle.output().await?.into_body())));
        flow.resolve("through the client".into()).call().await?.into_body()?;
        seen.push(handle.attach().await?.into_body());
        seen.push(flow.done().call().await?.into_body()?);
        seen.push(peeked(handle.output().await?.into_body()));
        seen.push(format!("{:?}", flow.order().call().await?.into_body()?));
        seen.extend(flow.run("too late".into()).call().await?.into_body().err().map(told));
        seen.extend(flow.resolve("twice".into()).call().await?.into_body().err().map(told));
        let client = connect(&url)?;
        match client.lookup_workflow::<String>("RustFlow", format!("{key}-no"), None).await {
            Ok(handle) => seen.extend(handle.output().await.err().map(told)),
            Err(error) => seen.push(told(error)),
        }
        Ok(Json(seen))
    }

    /// Scopes and limit keys, which a server may refuse.
    #[handler]
    async fn scoped(
        &self,
        _ctx: Context<'_>,
        input: Json<(String, String)>,
    ) -> HandlerResult<Seen> {
        let Json((url, key)) = input;
        let client = connect(&url)?;
        let plain = RustPlainIngressClient::scoped_client(client.clone(), format!("scope-{key}"));
        let mut seen = vec![];
        match plain.scope_seen().limit_key("a/b").call().await {
            Ok(answer) => seen.push(answer.into_body().unwrap_or_else(told)),
            Err(error) => seen.push(told(error)),
        }
        match plain.echo("sent".into()).send().await {
            Ok(sent) => seen.push(format!("{:?}", sent.send_status())),
            Err(error) => seen.push(told(error)),
        }
        let flow = RustFlowIngressClient::scoped_client(client, "one", format!("scope-{key}"));
        match flow.handle().await {
            Ok(handle) => seen.extend(handle.output().await.err().map(told)),
            Err(error) => seen.push(told(error)),
        }
        Ok(Json(seen))
    }

    /// A call that outlasts many turns of the server, through one connection.
    #[handler]
    async fn waits(&self, _ctx: Context<'_>, input: Json<(String, String)>) -> HandlerResult<Seen> {
        let waits = RustWaitsIngressClient::from_client(connect(&input.0.0)?);
        let slept = waits.sleep(700).call().await?.into_body()?;
        let race = waits.race().call().await?.into_body()?;
        Ok(Json(vec![slept, race]))
    }
}
