//! The handlers of handlers.ts in Rust: cargo run -- 127.0.0.1:9080
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq)]
enum Role {
    User,
    Tool,
    Agent,
}

type Conversation = Vec<(Role, String)>;

#[derive(Serialize, Deserialize)]
enum Move {
    Use { tool: String, input: String },
    Say(String),
    Done,
}

/// What callers read: what the agent says and does, and approvals that it waits for.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: String,
    /// The id of the awakeable that a human resolves with true or false.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<String>,
    #[serde(default)]
    is_last: bool,
}

/// Nobody but a human lets the agent spend money.
const NEEDS_APPROVAL: [&str; 1] = ["book"];
const MOVES_MAX: usize = 20;

fn texts_of(conversation: &Conversation, role: Role) -> Vec<&str> {
    conversation.iter().filter(|one| one.0 == role).map(|one| one.1.as_str()).collect()
}

/// Stands in for a language model: it gets the conversation, and answers with its next move.
fn model(conversation: &Conversation) -> Move {
    let heard = texts_of(conversation, Role::Tool);
    let said = texts_of(conversation, Role::Agent).len();
    match (heard.len(), said) {
        (0, _) => Move::Use { tool: "findFlight".into(), input: conversation[0].1.clone() },
        (1, _) => Move::Use { tool: "book".into(), input: heard[0].into() },
        (_, 0) => Move::Say("Here is what I did:".into()),
        (_, 1) => Move::Say(format!("{}.", heard[1])),
        _ => Move::Done,
    }
}

fn use_tool(tool: &str, input: &str) -> String {
    match tool {
        "findFlight" => format!("flight F7 to {input}"),
        "book" => format!("booked {input}"),
        _ => format!("There is no tool {tool}"),
    }
}

/// Shows the next part to those that read.
fn show(ctx: &WorkflowContext<'_>, parts: &mut usize, part: Part) {
    ctx.resolve_promise(&format!("part {parts}"), Json(part));
    *parts += 1;
}

async fn used(
    ctx: &WorkflowContext<'_>,
    parts: &mut usize,
    (tool, input): (String, String),
) -> HandlerResult<String> {
    if NEEDS_APPROVAL.contains(&tool.as_str()) {
        let (id, answer) = ctx.awakeable::<bool>();
        let text = format!("May I use {tool}: {input}?");
        show(ctx, parts, Part { text, approval: Some(id), is_last: false });
        if !answer.await? {
            return Ok(format!("was not allowed to {tool}"));
        }
    } else {
        show(ctx, parts, Part { text: format!("{tool}: {input}"), ..Part::default() });
    }
    let name = tool.clone();
    Ok(ctx.run(async move || Ok(use_tool(&tool, &input))).name(name).await?)
}

struct Agent;

#[workflow]
impl Agent {
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>, task: String) -> HandlerResult<String> {
        let mut conversation = vec![(Role::User, task)];
        let mut parts = 0;
        for _ in 0..MOVES_MAX {
            let heard = conversation.clone();
            let ask = async move || Ok(Json(model(&heard)));
            match ctx.run(ask).name("model").await?.into_inner() {
                Move::Done => break,
                Move::Say(text) => {
                    show(&ctx, &mut parts, Part { text: text.clone(), ..Part::default() });
                    conversation.push((Role::Agent, text));
                }
                Move::Use { tool, input } => {
                    let text = used(&ctx, &mut parts, (tool, input)).await?;
                    conversation.push((Role::Tool, text));
                }
            }
        }
        show(&ctx, &mut parts, Part { is_last: true, ..Part::default() });
        Ok(texts_of(&conversation, Role::Agent).join(" "))
    }

    /// The part of this number, as soon as there is one.
    #[handler]
    async fn read(&self, ctx: SharedWorkflowContext<'_>, at: u32) -> HandlerResult<Json<Part>> {
        Ok(ctx.promise::<Json<Part>>(&format!("part {at}")).await?)
    }
}

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("an address to listen on");
    HttpServer::new(Endpoint::builder().bind(Agent).build())
        .listen_and_serve(address.parse().expect("an address to listen on"))
        .await;
}
