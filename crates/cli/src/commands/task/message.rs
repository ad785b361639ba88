//! `accord task message`: a message of AOF/1 arrives.

use std::path::Path;

use accord_contract::time::Timestamp;
use accord_contract::wire::Value;
use hyper::Method;

use super::place::PlaceArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::HostRequest;
use crate::input::read_file;
use crate::render;

/// Receive a message of AOF/1: a JSON object, its text, or a text that begins with `AOF/1 `
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  accord task message < report.json\n  accord task message \
                        --now < report-without-a-time.json\n  accord task message \
                        'AOF/1 {\"protocol\":\"aof\",...}'\n\nA text that is no message changes \
                        nothing: applied is false, with the reason not_protocol.")]
pub(super) struct MessageArgs {
    /// The message [default: standard input]
    text: Option<String>,

    /// Set sentAt to the current time
    #[arg(long)]
    now: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

impl MessageArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let text = match self.text {
            Some(text) => text,
            // The host says what is wrong with bytes that are no text.
            None => String::from_utf8_lossy(&read_file(Path::new("-"))?).into_owned(),
        };
        let text = if self.now { sent_now(text) } else { text };
        let place = self.place.open()?;
        let path = ["accord", "v1", "projects", &place.project, "aof", "messages"];
        let request =
            HostRequest::new(Method::POST, &path).bytes("text/plain; charset=utf-8", text.into());
        let answer = place.send(request)?;
        let is_applied = answer.value()?["result"]["applied"].as_bool().unwrap_or(false);
        answer.print(place.json, |page, document| render::received(page, &document["result"]))?;
        Ok(Exit::from_answer(is_applied))
    }
}

/// The message with the current time as the time at which it was sent. What is no object stays as
/// it is: the host says what is wrong with it.
fn sent_now(text: String) -> String {
    let json = text.trim().strip_prefix("AOF/1 ").unwrap_or(&text);
    match serde_json::from_str(json) {
        Ok(Value::Object(mut message)) => {
            let now = Timestamp::emit(accord_system::now());
            message.insert("sentAt".to_owned(), now.as_str().into());
            Value::Object(message).to_string()
        }
        _ => text,
    }
}
