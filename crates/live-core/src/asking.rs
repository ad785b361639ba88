//! Questions to people in one call: the session and the contract of a question, and what a call
//! that repeats it gets.
//!
//! A question is a session with one ask: its options are buttons, its form is an action with a
//! schema, and the first answer of a known person closes it. The id of the session is a digest of
//! the question, so that a call that is repeated finds it. When its answer was read, or its time
//! was over and this was said, the next call of the same question begins the session again.
//!
//! Invariants:
//! - the session of a question shows what was asked until it ends, and an answer counts for the
//!   question whose digest it carries;
//! - an answer that no call has read is given to the next one, and not asked for again;
//! - an answer that was read is not given to a later question of the same words: a person who
//!   agreed once has not agreed again. Only a call that waited for it, and a question with an id of
//!   its own, get it again.

use accord_base::refuse::schema;
use accord_base::{Actor, ActorKey, ProjectId};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value, Wire as _};

use crate::contract::{AnswerRules, AnsweredBy, ClosesOn, CompiledContract, KEEP, digest};
use crate::json::{members, put};
use crate::limits::ASK_WITHIN_SECONDS;
use crate::operations::ask_person::{AskPersonAnswer, AskPersonRequest, AskState};
use crate::operations::questions::LiveUnreadAnswer;
use crate::session::{ASKED, ASKED_BY, BY, QUESTION, TO};
use crate::session::{Ask, At, Content, ContentChange, Delta, LedgerRow, Rendering, Session};
use crate::session::{actor_document, asked, decision_id, package_id, render};
use crate::{AppId, SessionId, reserved::is_reserved};

/// The action of a form.
pub(crate) const SUBMIT: &str = "submit";
/// The action that is offered beside a form, if the question has no options.
pub(crate) const REFUSE: &str = "refuse";
/// The options of a question that has neither options nor a form.
const YES_OR_NO: [&str; 2] = ["yes", "no"];
/// The prop with the text of a question after its first line.
const DETAILS: &str = "details";
/// The member of a UI that says when the time to answer was over, once a call has said it.
const ENDED: &str = "x-askEnded";
/// Hexadecimal digits of the id of a session.
const ID_DIGITS: usize = 32;

/// A question that passed every check.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub session_id: SessionId,
    title: String,
    props: Object,
    /// What is shown, and what a person can do.
    contract: Object,
    /// The digest of what is asked.
    asked: String,
    /// The option that means yes, if there are options.
    first: Option<String>,
    asked_by: Option<ActorKey>,
    to: Option<ActorKey>,
    has_own_id: bool,
}

/// What is stored of the session of a question.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    pub session: &'a Session,
    pub content: &'a Content,
    /// What it asks, also when the time is over.
    pub ask: Option<&'a Ask>,
    /// The answer that closed the ask.
    pub answer: Option<&'a LedgerRow>,
    /// Whether a call has read the answer.
    pub is_read: bool,
    /// Whether this call has waited for the answer before.
    pub is_waited_for: bool,
}

/// What a call does about its question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// It begins the question.
    Begin,
    Wait,
    /// It takes the answer.
    Take,
    /// It gives an answer that was read before.
    GiveAgain,
    /// It says that the time to answer is over, and that it has said so.
    End,
    /// It says again that the time to answer is over.
    SayEnded,
}

impl Question {
    /// The question of a request. Fails with `INVALID_SCHEMA`.
    pub fn new(
        request: &AskPersonRequest,
        project: &ProjectId,
        asked_by: Option<ActorKey>,
    ) -> Result<Self, Failure> {
        let text = request.question.trim();
        let (title, details) = text.split_once('\n').unwrap_or((text, ""));
        if title.is_empty() {
            return Err(schema("/question", "the question is empty"));
        }
        let (options, actions) = actions(request)?;
        let to = request.to.as_deref().map(ActorKey::parse).transpose();
        let to = to.and_then(|to| match to {
            Some(to) if to.id.as_str().contains(char::is_control) => {
                Err("the name has control characters".to_owned())
            }
            to => to.as_ref().map_or(Ok(()), ActorKey::check_distinct).map(|()| to),
        });
        let to = to.map_err(|wrong| schema("/to", format!("{wrong}; write human:NAME")))?;
        let within = request.within_seconds.and_then(|seconds| i64::try_from(seconds).ok());
        let mut contract = members([
            ("actionSpec", Value::Object(actions)),
            ("x-answeredBy", AnsweredBy::Person.as_str().into()),
            ("x-closesOn", ClosesOn::First.as_str().into()),
            ("x-answerWithin", within.unwrap_or(ASK_WITHIN_SECONDS).into()),
            (KEEP, true.into()),
        ]);
        let mut props = Object::new();
        if !details.trim().is_empty() {
            props.insert(DETAILS.into(), details.trim().into());
            contract.insert("propsSpec".into(), details_spec());
        }
        let title = title.trim_end().to_owned();
        let asked = asked(&title, contract.get("actionSpec"), &props);
        Ok(Self {
            session_id: session_id(request, project, asked_by.as_ref())?,
            asked: asked.map_err(|wrong| schema("/form", wrong.to_string()))?,
            title,
            props,
            contract,
            first: options.into_iter().next(),
            asked_by,
            to,
            has_own_id: request.id.is_some(),
        })
    }

    /// The contract. To compile it takes time, so a service does it before its transaction. Fails
    /// with every violation.
    pub fn compile(&self) -> Result<CompiledContract, Failure> {
        CompiledContract::read(&Value::Object(self.contract.clone())).map_err(Failure::from)
    }

    /// What a call does. Fails with `LIVE_ASK_CONFLICT` when the session of the question asks
    /// another one.
    pub fn step(&self, stored: Option<Stored<'_>>, now: Time) -> Result<Step, Failure> {
        let open = stored.filter(|stored| {
            // A page that subscribed to the id has begun a session without a question.
            stored.session.is_active(now) && stored.session.head.has_pipe
        });
        let Some(stored) = open else { return Ok(Step::Begin) };
        if !self.is_that_of(stored.content) {
            let message = "the same actor has asked another question in this project with this id";
            return Err(conflict(stored.session, message));
        }
        if stored.answer.is_some_and(|row| !self.is_what_was_asked(&row.data)) {
            let message = "what was answered in the session of this question is another question";
            return Err(conflict(stored.session, message));
        }
        let goes_on = self.has_own_id || stored.is_waited_for;
        Ok(match stored.answer {
            Some(_) if !stored.is_read => Step::Take,
            Some(_) if goes_on => Step::GiveAgain,
            Some(_) => Step::Begin,
            None if stored.until() > now => Step::Wait,
            None if stored.content.ui.get(ENDED).is_none() => Step::End,
            None if goes_on => Step::SayEnded,
            None => Step::Begin,
        })
    }

    /// Begins the session of the question. `earlier` is the session of the same id that is over.
    pub fn begin(
        &self,
        app_id: &AppId,
        earlier: Option<&Session>,
        contract: &CompiledContract,
        at: At<'_>,
    ) -> (Session, Content, Delta) {
        let mut ui = self.contract.clone();
        ui.insert("type".into(), "component".into());
        ui.insert("componentCode".into(), "".into());
        ui.insert("prompt".into(), self.title.as_str().into());
        ui.insert(QUESTION.into(), true.into());
        put(&mut ui, ASKED_BY, self.asked_by.as_ref().map(actor_document));
        put(&mut ui, TO, self.to.as_ref().map(|to| format!("{}:{}", to.kind, to.id)));
        let rendering = Rendering {
            session_id: &self.session_id,
            app_id,
            earlier,
            ui,
            props: self.props.clone(),
            contract,
            asked_by: self.asked_by.clone(),
        };
        let (mut session, content, mut delta) = render(rendering, at);
        // The session outlives the time to answer, so that a call that comes later learns how the
        // question ended.
        session.head.expires_at = session.head.expires_at.add_seconds(at.ttl_seconds);
        delta.session = Some(session.clone());
        (session, content, delta)
    }

    /// What a call answers that took a step. `stored` is the session before it, or the new one.
    pub fn answer(&self, step: Step, stored: Stored<'_>) -> AskPersonAnswer {
        let state = match step {
            Step::Begin | Step::Wait => AskState::Waiting,
            Step::Take | Step::GiveAgain => AskState::Answered,
            Step::End | Step::SayEnded => AskState::Expired,
        };
        let (since, until) = (Timestamp::emit(stored.since()), Timestamp::emit(stored.until()));
        let mut answer = bare(stored.session.id.clone(), state, since, until);
        if let Some(row) = stored.answer.filter(|_| state == AskState::Answered) {
            self.add(&mut answer, &row.data, Timestamp::emit(row.at), row.seq);
        }
        answer
    }

    /// What a call answers whose session has ended, if it has an answer to this question that no
    /// call has read.
    pub fn late_answer(&self, unread: LiveUnreadAnswer) -> Option<AskPersonAnswer> {
        let action = unread.data["payload"]["action"].as_str()?;
        let is_offered = self.contract["actionSpec"].get(action).is_some();
        if !is_offered
            || !self.is_what_was_asked(&unread.data)
            || unread.intent.as_deref() != Some(&self.title)
        {
            return None;
        }
        let at = unread.at.clone();
        let mut answer = bare(unread.session_id, AskState::Answered, at.clone(), at);
        self.add(&mut answer, &unread.data, unread.at, unread.sequence);
        Some(answer)
    }

    pub fn asked_by(&self) -> Option<ActorKey> {
        self.asked_by.clone()
    }

    fn add(&self, answer: &mut AskPersonAnswer, event: &Value, at: Timestamp, sequence: u64) {
        let payload = event.get("payload");
        let action = payload.and_then(|payload| payload["action"].as_str()).unwrap_or_default();
        let is_form = self.contract["actionSpec"][action]["schema"].is_object();
        answer.accepted = Some(is_form || self.first.as_deref() == Some(action));
        match is_form {
            true => answer.data = payload.and_then(|payload| payload.get("data")).cloned(),
            false => answer.option = Some(action.to_owned()),
        }
        answer.by = event.get(BY).and_then(|by| Actor::from_answer(by.clone()).ok());
        answer.at = Some(at);
        answer.sequence = Some(sequence);
        let is_kept = self.contract.get(KEEP) == Some(&Value::Bool(true));
        let decision = decision_id(&answer.session_id, sequence);
        answer.package_id = is_kept.then(|| package_id(&decision));
    }

    /// Whether it is the question of a session.
    fn is_that_of(&self, content: &Content) -> bool {
        let is_same = |name: &str| content.ui.get(name) == self.contract.get(name);
        let title = content.ui.get("prompt").and_then(Value::as_str);
        let props = content.props.as_ref();
        title == Some(&self.title)
            && is_same("actionSpec")
            && props.map_or(self.props.is_empty(), |props| *props == self.props)
    }

    /// Whether it is what was asked when an answer was given. Answers that an earlier version
    /// stored do not say.
    fn is_what_was_asked(&self, answer: &Value) -> bool {
        answer.get(ASKED).is_none_or(|asked| asked.as_str() == Some(&self.asked))
    }
}

fn conflict(session: &Session, message: &str) -> Failure {
    Failure::new(Code::LiveAskConflict, message).at("/id").with("session_id", session.id.as_str())
}

/// An answer without what a person chose.
fn bare(
    session_id: SessionId,
    state: AskState,
    since: Timestamp,
    until: Timestamp,
) -> AskPersonAnswer {
    AskPersonAnswer {
        session_id,
        state,
        since,
        until,
        accepted: None,
        option: None,
        data: None,
        by: None,
        at: None,
        sequence: None,
        package_id: None,
        page_url: None,
        extra: Object::new(),
    }
}

impl Stored<'_> {
    /// Since when it is asked.
    pub fn since(&self) -> Time {
        self.ask.map_or(self.session.head.created_at, |ask| ask.since)
    }

    /// Until when the question takes answers.
    pub fn until(&self) -> Time {
        let within = AnswerRules::of_ui(&self.content.ui).within;
        self.since().add_seconds(within.unwrap_or(ASK_WITHIN_SECONDS))
    }
}

/// Notes that a call has said that the time to answer is over. What was asked stays, so that a
/// late answer is refused.
pub fn end(stored: Stored<'_>) -> Delta {
    let mut ui = stored.content.ui.clone();
    ui.insert(ENDED.into(), stored.until().to_string().into());
    let (session, content) = (Some(stored.session.clone()), vec![ContentChange::Ui(ui)]);
    Delta { session, content, ..Delta::default() }
}

/// The options of a request, and its actions: the form, then the options.
fn actions(request: &AskPersonRequest) -> Result<(Vec<String>, Object), Failure> {
    let mut options = request.options.clone().unwrap_or_default();
    let mut actions = Object::new();
    let button = |label: &str| Value::Object(members([("label", label.into())]));
    if let Some(form) = &request.form {
        if form.get("type").and_then(Value::as_str) != Some("object") {
            return Err(schema("/form", "a form is the JSON Schema of an object: type is object"));
        }
        let form = Value::Object(form.clone());
        let action = members([("label", "Submit".into()), ("schema", form)]);
        actions.insert(SUBMIT.into(), Value::Object(action));
        if options.is_empty() {
            actions.insert(REFUSE.into(), button("Refuse"));
        }
    } else if options.is_empty() {
        options = YES_OR_NO.map(str::to_owned).to_vec();
    }
    for (index, option) in options.iter_mut().enumerate() {
        *option = option.trim().to_owned();
        let taken = |name: &String| name.to_lowercase() == option.to_lowercase();
        let wrong = match option.as_str() {
            "" => "an option is empty".to_owned(),
            // It is typed as a word of a command.
            text if text.starts_with('-') => "an option does not begin with -".to_owned(),
            text if text.contains(char::is_control) => {
                "an option is one line without control characters".to_owned()
            }
            reserved if is_reserved(reserved) => {
                format!("an option does not begin with {}", crate::reserved::PREFIX)
            }
            _ if actions.keys().any(taken) => {
                format!("{option:?} is there twice, or is the name of the form")
            }
            _ => {
                actions.insert(option.clone(), button(option));
                continue;
            }
        };
        return Err(schema(format!("/options/{index}"), wrong));
    }
    Ok((options, actions))
}

fn details_spec() -> Value {
    let text = members([("type", "string".into()), ("contentMediaType", "text/markdown".into())]);
    let entry = members([("schema", Value::Object(text)), ("required", true.into())]);
    let properties = members([(DETAILS, Value::Object(entry))]);
    Value::Object(members([("properties", Value::Object(properties))]))
}

/// The id of the session of a question: a digest of the id that the request gives, else of what is
/// asked, by whom and during which work.
fn session_id(
    request: &AskPersonRequest,
    project: &ProjectId,
    asked_by: Option<&ActorKey>,
) -> Result<SessionId, Failure> {
    let by = asked_by.map(|actor| format!("{}:{}", actor.kind, actor.id));
    let mut identity = members([("project", project.as_str().into())]);
    put(&mut identity, "by", by);
    match &request.id {
        Some(id) => put(&mut identity, "id", Some(id.as_str())),
        None => {
            put(&mut identity, "work", request.work.as_deref());
            put(&mut identity, "question", Some(request.question.trim()));
            put(&mut identity, "options", request.options.clone());
            put(&mut identity, "form", request.form.clone());
        }
    }
    let digest = digest(&Value::Object(identity));
    let digest = digest.map_err(|wrong| schema("/form", wrong.to_string()))?;
    let id = SessionId::new(format!("live_{}", &digest.hex()[..ID_DIGITS]));
    id.map_err(|wrong| schema("/id", wrong.to_string()))
}
