//! The one adapter between a tool with an input type of its own and [`Tool`], which takes any JSON.
//!
//! A tool says its name, description, effect and input type, and what it does with an input; schema, parsing and the
//! answer to an input that does not fit are made here, for all of them alike.

use super::schema::{ToolSchema, parse};
use super::{Tool, ToolContext, ToolFailure, ToolResult, preview};
use async_trait::async_trait;
use retrace_events::payload::tool::ToolEffect;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A tool as its own file writes it. Whatever is one is a [`Tool`].
pub(super) trait TypedTool: Send + Sync + 'static {
    /// What a call says. Field comments are what the model is told of the fields.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// As the model calls it.
    const NAME: &'static str;
    /// What it does, when to use it, its limits and what comes back.
    const DESCRIPTION: &'static str;
    /// Whether a call may be carried out a second time without harm.
    const EFFECT: ToolEffect;
    /// Whether its result is what a person answers.
    const WAITS_FOR_USER: bool = false;

    /// One line for people, from an input that may be anything.
    fn summary(input: &Value) -> String;

    /// What is wrong with an input that fits the schema, as far as that can be told from the input alone.
    fn check(_input: &Self::Input) -> Result<(), String> {
        Ok(())
    }

    /// What a person should see before allowing the call, of any length and not redacted yet.
    fn preview(_context: &ToolContext, _input: Self::Input) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    /// Carries out a call.
    fn run(context: &ToolContext, input: Self::Input) -> impl Future<Output = Result<ToolResult, ToolFailure>> + Send;
}

#[async_trait]
impl<T: TypedTool> Tool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn schema(&self) -> ToolSchema {
        ToolSchema::of::<T::Input>(T::NAME, T::DESCRIPTION)
    }

    fn effect(&self) -> ToolEffect {
        T::EFFECT
    }

    fn waits_for_user(&self) -> bool {
        T::WAITS_FOR_USER
    }

    fn summary(&self, input: &Value) -> String {
        T::summary(input)
    }

    fn refused(&self, input: &Value) -> Option<ToolResult> {
        checked::<T>(input.clone()).err().map(|result| *result)
    }

    async fn preview(&self, context: &ToolContext, input: &Value) -> Option<String> {
        let input = checked::<T>(input.clone()).ok()?;
        T::preview(context, input).await.map(|text| preview::shown(context, &text))
    }

    async fn run(&self, context: &ToolContext, input: Value) -> Result<ToolResult, ToolFailure> {
        match checked::<T>(input) {
            Ok(input) => T::run(context, input).await,
            Err(result) => Ok(*result),
        }
    }
}

fn checked<T: TypedTool>(input: Value) -> Result<T::Input, Box<ToolResult>> {
    let input = parse::<T::Input>(T::NAME, input)?;
    T::check(&input).map_err(|why| Box::new(ToolResult::error(why)))?;
    Ok(input)
}
