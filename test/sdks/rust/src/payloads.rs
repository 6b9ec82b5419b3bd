//! Inputs and outputs of all kinds: none, optional, raw, JSON with a schema, a serde of our own.
use bytes::Bytes;
use restate_sdk::prelude::*;
use restate_sdk::serde::{self as wire, InputMetadata, OutputMetadata, PayloadMetadata};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::string::FromUtf8Error;

/// What `json` takes and returns.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    name: String,
    count: u32,
    tags: Vec<String>,
}

/// Plain text, which is not JSON.
pub struct Text(pub String);

impl wire::Serialize for Text {
    type Error = std::convert::Infallible;
    fn serialize(&self) -> Result<Bytes, Self::Error> {
        Ok(Bytes::copy_from_slice(self.0.as_bytes()))
    }
}

impl wire::Deserialize for Text {
    type Error = FromUtf8Error;
    fn deserialize(bytes: &mut Bytes) -> Result<Self, Self::Error> {
        String::from_utf8(bytes.to_vec()).map(Text)
    }
}

impl PayloadMetadata for Text {
    fn json_schema() -> Option<serde_json::Value> {
        None
    }
    fn input_metadata() -> InputMetadata {
        InputMetadata { accept_content_type: "text/*", is_required: false }
    }
    fn output_metadata() -> OutputMetadata {
        OutputMetadata { content_type: "text/plain", set_content_type_if_empty: true }
    }
}

pub struct RustPayloads;

/// Payloads of all kinds.
#[service(idempotency_retention = "2h", client_visibility = "pub(crate)")]
impl RustPayloads {
    /// Neither an input nor an output.
    #[handler]
    async fn nothing(&self, _ctx: Context<'_>) -> HandlerResult<()> {
        Ok(())
    }

    /// Bytes, reversed.
    #[handler]
    async fn raw(&self, _ctx: Context<'_>, mut input: Vec<u8>) -> HandlerResult<Vec<u8>> {
        input.reverse();
        Ok(input)
    }

    #[handler]
    async fn maybe(
        &self,
        _ctx: Context<'_>,
        input: Option<String>,
    ) -> HandlerResult<Option<String>> {
        Ok(input.map(|text| text.to_uppercase()))
    }

    #[handler]
    async fn json(&self, _ctx: Context<'_>, input: Json<Payload>) -> HandlerResult<Json<Payload>> {
        let Json(Payload { name, count, tags }) = input;
        Ok(Json(Payload { name, count: count + 1, tags }))
    }

    #[handler]
    async fn text(&self, _ctx: Context<'_>, input: Text) -> HandlerResult<Text> {
        Ok(Text(input.0.trim().to_owned()))
    }

    #[handler(name = "numberOf")]
    async fn number(&self, _ctx: Context<'_>, input: f64) -> HandlerResult<bool> {
        Ok(input > 0.5)
    }

    /// A text of so many bytes, through a step, a call and the state of nobody.
    #[handler]
    async fn large(&self, ctx: Context<'_>, bytes: u32) -> HandlerResult<String> {
        let text = ctx.run(async move || Ok("x".repeat(bytes as usize))).name("large").await?;
        let back = ctx.service_client::<RustPayloadsClient>().raw(text.into_bytes()).call().await?;
        Ok(String::from_utf8(back).terminal()?)
    }
}
