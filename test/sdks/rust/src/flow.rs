//! A workflow: durable promises, and state that outlives the run.
use restate_sdk::prelude::*;

fn told(result: Result<String, TerminalError>) -> String {
    match result {
        Ok(text) => text,
        Err(error) => format!("{} {}", error.code(), error.message()),
    }
}

pub struct RustFlow;

#[workflow(
    workflow_completion_retention = "3h",
    invocation_retry_policy(initial_interval = "30ms", max_interval = "200ms")
)]
impl RustFlow {
    /// Waits for `go`, answers `done`.
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>, order: String) -> HandlerResult<String> {
        ctx.set("order", order.clone());
        let before = ctx.peek_promise::<String>("go").await?;
        let go = told(ctx.promise::<String>("go").await);
        let after = told(ctx.peek_promise::<String>("go").await.map(|text| format!("{text:?}")));
        ctx.resolve_promise("done", format!("{order} is done"));
        ctx.set("order", "delivered".to_owned());
        Ok(format!("{before:?}, {go}, {after}"))
    }

    #[handler]
    async fn resolve(&self, ctx: SharedWorkflowContext<'_>, text: String) -> HandlerResult<()> {
        ctx.resolve_promise("go", text);
        Ok(())
    }

    #[handler]
    async fn reject(&self, ctx: SharedWorkflowContext<'_>, text: String) -> HandlerResult<()> {
        ctx.reject_promise("go", TerminalError::new_with_code(451, text));
        Ok(())
    }

    /// Waits for the end of the run.
    #[handler]
    async fn done(&self, ctx: SharedWorkflowContext<'_>) -> HandlerResult<String> {
        Ok(told(ctx.promise::<String>("done").await))
    }

    #[handler]
    async fn peek(&self, ctx: SharedWorkflowContext<'_>) -> HandlerResult<Option<String>> {
        Ok(ctx.peek_promise("done").await?)
    }

    #[handler]
    async fn order(&self, ctx: SharedWorkflowContext<'_>) -> HandlerResult<Option<String>> {
        Ok(ctx.get("order").await?)
    }

    /// Submits a run of another key and waits for it, from within.
    #[handler]
    async fn other(&self, ctx: SharedWorkflowContext<'_>, key: String) -> HandlerResult<String> {
        let client = || ctx.workflow_client::<RustFlowClient>(&key);
        let sent = client().run("from within".into()).send().await?;
        client().resolve("go on".into()).call().await?;
        let first = told(sent.attach().await);
        let again = told(client().run("again".into()).call().await);
        Ok(format!("{first}; {again}"))
    }
}
