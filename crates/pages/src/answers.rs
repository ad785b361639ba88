//! The answers that were given in a live session, as its ledger has them, and whether the agent
//! waits for another one.

use accord_contract::{Time, Value};
use askama::Template;

use crate::LiveView;
use crate::html::Html;
use crate::text::AgentText;
use crate::value::{label, shown};

/// The most answers that are shown, the last ones.
const MOST_ANSWERS: usize = 20;

/// What takes the place of a secret that a person entered.
const SECRET: &str = "(not shown)";

#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Its number in the ledger.
    pub number: u64,
    pub at: Time,
    /// The data of its event: the action as it was sent, and who sent it.
    pub event: &'a Value,
    pub is_read: bool,
}

struct Answer {
    number: u64,
    label: AgentText,
    at: String,
    by: Option<AgentText>,
    /// Whether it came neither from a page of Accord nor from the command: an agent can send it.
    is_from_channel: bool,
    data: Html,
}

#[derive(Template)]
#[template(path = "answers.html")]
struct Answers {
    answers: Vec<Answer>,
    is_cut: bool,
}

#[derive(Template)]
#[template(path = "agent.html")]
struct Agent {
    state: &'static str,
    asking: Asking,
    last: Option<Answer>,
    read: &'static str,
}

/// What an agent wants of a person now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asking {
    No,
    /// It asks, and waits for the answer in a call.
    Waits,
    /// It asks, and will come back for the answer.
    Later,
}

/// Whether the agent asks for an answer and waits for it, and what became of the last one. It comes
/// from the state of the session, so that it is the same after a reload and in every tab.
pub fn agent(view: &LiveView, snapshot: &Value, asking: Asking, given: &[Given<'_>]) -> Html {
    let read = |given: &Given<'_>| Some((Answer::read(snapshot, given)?, given.is_read));
    let (last, is_read) = given.iter().rev().find_map(read).unzip();
    let (answered, read) = match is_read {
        Some(true) => ("read", "The agent has read it."),
        Some(false) if view.is_ended() => ("answered", "The agent did not read it."),
        Some(false) => ("answered", "The agent has not read it yet."),
        None => ("idle", ""),
    };
    let state = match asking {
        Asking::No => answered,
        Asking::Waits => "waiting",
        Asking::Later => "asked",
    };
    Html::of(&Agent { state, asking, last, read })
}

/// The last answers, oldest first. `snapshot` has the actions of the session.
pub fn answers(snapshot: &Value, given: &[Given<'_>]) -> Html {
    let first = given.len().saturating_sub(MOST_ANSWERS);
    let answers = given[first..].iter().filter_map(|given| Answer::read(snapshot, given));
    Html::of(&Answers { answers: answers.collect(), is_cut: first > 0 })
}

impl Answer {
    /// An answer; none for an event that names no action.
    fn read(snapshot: &Value, given: &Given<'_>) -> Option<Self> {
        let sent = given.event.get("payload")?;
        let name = sent.get("action")?.as_str()?;
        let spec = snapshot.get("actionSpec").and_then(|specs| specs.get(name));
        let words = spec.and_then(|spec| spec.get("label")).and_then(Value::as_str);
        let schema = spec.and_then(|spec| spec.get("schema"));
        let data = sent.get("data").map(|data| shown(&without_secrets(data, schema), schema));
        let door = given.event.get("x-door").and_then(Value::as_str);
        let by = given.event.get("x-by");
        let part = |name: &str| by.and_then(|by| by.get(name)).and_then(Value::as_str);
        let by = part("type").zip(part("id")).map(|(kind, id)| format!("{kind}:{id}"));
        Some(Self {
            number: given.number,
            label: AgentText::new(words.map_or_else(|| label(name), str::to_owned)),
            at: given.at.to_seconds_text(),
            by: by.map(AgentText::new),
            is_from_channel: !matches!(door, Some("page" | "cli")),
            data: data.unwrap_or_default(),
        })
    }
}

/// The data without what was entered as a secret.
fn without_secrets(data: &Value, schema: Option<&Value>) -> Value {
    let part = |name: &str| schema.and_then(|schema| schema.get(name));
    match data {
        Value::String(_) if part("format").and_then(Value::as_str) == Some("password") => {
            SECRET.into()
        }
        Value::Array(items) => {
            items.iter().map(|item| without_secrets(item, part("items"))).collect()
        }
        Value::Object(members) => {
            let schema_of = |name: &str| part("properties").and_then(|all| all.get(name));
            let shown = |name: &String, it| (name.clone(), without_secrets(it, schema_of(name)));
            members.iter().map(|(name, member)| shown(name, member)).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Time {
        Time::from_unix(1_800_000_000, 0).unwrap()
    }

    #[test]
    fn an_answer_shows_what_when_and_who() {
        let snapshot = json!({"actionSpec": {"approve": {"label": "Approve <it>", "schema": {
            "properties": {"pin": {"type": "string", "format": "password"}}}}}});
        let event = json!({"payload": {"action": "approve", "data": {"pin": "1234", "note": "ok"}},
            "x-by": {"type": "human", "id": "lead"}});
        let html =
            answers(&snapshot, &[Given { number: 3, at: now(), event: &event, is_read: true }]);
        let html = html.as_str();
        for part in [
            "Answers so far",
            "data-answer=\"3\"",
            "Approve &lt;it&gt;",
            "2027-01-15T08:00:00Z",
            "human:lead",
            "(not shown)",
            "ok",
        ] {
            assert!(html.contains(part), "no {part} in {html}");
        }
        assert!(!html.contains("1234"), "{html}");
    }

    #[test]
    fn the_last_answers_are_shown() {
        assert_eq!(answers(&json!({}), &[]).as_str(), "");
        let event = json!({"payload": {"action": "go"}});
        let numbers = 1..=MOST_ANSWERS as u64 + 1;
        let given: Vec<_> = numbers
            .map(|number| Given { number, at: now(), event: &event, is_read: true })
            .collect();
        let html = answers(&json!({}), &given);
        assert!(html.as_str().contains("The last answers"), "{html}");
        assert_eq!(html.as_str().matches("<strong>Go</strong>").count(), MOST_ANSWERS);
        assert!(!html.as_str().contains("data-answer=\"1\""), "{html}");
        // An event of another kind is no answer.
        let other = json!({"note": 1});
        let other = Given { number: 1, at: now(), event: &other, is_read: true };
        assert_eq!(answers(&json!({}), &[other]).as_str(), "");
    }

    /// What `agent` says, without its marks.
    fn said(snapshot: &Value, asking: Asking, given: &[Given<'_>]) -> String {
        let view = LiveView::new(snapshot, None, now());
        let html = agent(&view, snapshot, asking, given).into_string();
        let start = html.find('>').map_or(0, |end| end + 1);
        html[start..].trim_end_matches("</span>").to_owned()
    }

    #[test]
    fn a_page_says_whether_the_agent_waits_and_what_was_answered() {
        let later = now().add_seconds(60).unix_millis();
        let mut snapshot = json!({"expiresAt": later, "actionSpec": {"go": {"label": "Go <on>"}}});
        let event = json!({"payload": {"action": "go"}, "x-by": {"type": "human", "id": "lead"}});
        let unread = Given { number: 1, at: now(), event: &event, is_read: false };
        let read = Given { number: 2, is_read: true, ..unread };
        assert_eq!(said(&snapshot, Asking::No, &[]), "");
        assert_eq!(said(&snapshot, Asking::Waits, &[]), "The agent waits for your answer.");
        assert_eq!(
            said(&snapshot, Asking::Later, &[]),
            "Your answer is asked for. The agent does not wait at the moment. It gets the answer \
             when it comes back."
        );
        let answer = "Go &lt;on&gt;, <time datetime=\"2027-01-15T08:00:00Z\">2027-01-15T08:00:00Z\
                      </time> by <bdi>human:lead</bdi>";
        assert_eq!(
            said(&snapshot, Asking::No, &[read, unread]),
            format!("Answered: {answer}. The agent has not read it yet.")
        );
        assert_eq!(
            said(&snapshot, Asking::No, &[unread, read]),
            format!("Answered: {answer}. The agent has read it.")
        );
        assert_eq!(
            said(&snapshot, Asking::Waits, &[read]),
            format!(
                "The agent waits for your next answer. Before: {answer}. The agent has read it."
            )
        );
        snapshot["expiresAt"] = now().unix_millis().into();
        assert_eq!(
            said(&snapshot, Asking::No, &[unread]),
            format!("Answered: {answer}. The agent did not read it.")
        );
    }

    #[test]
    fn the_state_of_the_agent_is_a_hook() {
        let event = json!({"payload": {"action": "go"}});
        let given = |is_read| Given { number: 1, at: now(), event: &event, is_read };
        let view = LiveView::new(&json!({}), None, now());
        for (asking, is_read, state) in [
            (Asking::Waits, false, "waiting"),
            (Asking::Later, false, "asked"),
            (Asking::No, false, "answered"),
            (Asking::No, true, "read"),
        ] {
            let html = agent(&view, &json!({}), asking, &[given(is_read)]);
            assert!(html.as_str().contains(&format!("data-agent=\"{state}\"")), "{html}");
        }
    }
}
