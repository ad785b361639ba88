//! Prompts as data: what a person can ask for in a client, as a message to the model.

use accord_contract::{Code, Failure, Object, closest::closest};
use rmcp::model::{GetPromptResult, Prompt as Described, PromptArgument, PromptMessage, Role};

use super::{Answer, Argument, Call, CallContext, HostRequest, ToolError, argument};
use accord_serving::Api;

/// A prompt: a request to a host whose answer becomes a message to the model.
#[derive(Debug)]
pub struct Prompt {
    /// Its name, which clients show as a command.
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Its arguments. Clients send them as texts.
    pub arguments: &'static [Argument],
    pub ask: fn(&Call<'_>) -> Result<HostRequest, Failure>,
    pub message: fn(&Call<'_>, &Answer) -> Result<String, Failure>,
}

impl Prompt {
    pub fn described(&self) -> Described {
        let arguments = self.arguments.iter().map(|argument| {
            PromptArgument::new(argument.name())
                .with_description(argument.about())
                .with_required(false)
        });
        Described::new(self.name, Some(self.description), Some(arguments.collect()))
            .with_title(self.title)
    }

    pub async fn get(
        &self,
        sent: Object,
        context: &CallContext,
        api: &dyn Api,
    ) -> Result<GetPromptResult, ToolError> {
        let sent = argument::from_texts(sent, self.arguments);
        let arguments = argument::check(sent, self.arguments, context.project.as_deref())?;
        let call = Call::new(&arguments, context, accord_system::now());
        let answer = (self.ask)(&call)?.send(api).await?;
        let text = (self.message)(&call, &answer)?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(self.description))
    }
}

pub fn find(prompts: &[&'static Prompt], name: &str) -> Result<&'static Prompt, Failure> {
    let found = prompts.iter().find(|prompt| prompt.name == name);
    found.copied().ok_or_else(|| {
        let name: String = name.chars().take(100).collect();
        let known = || prompts.iter().map(|prompt| prompt.name);
        let hint = match closest(&name, known()) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!("The prompts are {}.", known().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no prompt {name:?}");
        Failure::new(Code::McpPromptUnknown, message).suggesting(hint)
    })
}
