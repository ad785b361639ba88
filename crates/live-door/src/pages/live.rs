//! The page of a live session: the empty page, what it fetches, and the link to it.

use accord_api::{Call, Envelope as _, Operation as _};
use accord_base::{Author, By, Door, ProjectId, Verb};
use accord_contract::{Code, Failure, Object, Time, Timestamp, text::percent_encoded};
use accord_live::Found;
use accord_live_core::contract::{AnswerRules, AnsweredBy};
use accord_live_core::operations::answer::{LiveAckEnvelope, LiveAnswerRequest};
use accord_live_core::operations::pages::{LiveLinkEnvelope, LivePage, LivePageEnvelope};
use accord_live_core::operations::pages::{LiveTokenEnvelope, MakeLink};
use accord_live_core::{SessionId, refuse, session::asked_by, token::TokenKind};
use accord_pages::{Asking, Given, LiveView, Shell, agent, answers};
use axum::extract::Path;
use hyper::{HeaderMap, StatusCode, Uri};

use super::{access::SignedIn, error_page, page, unstored};
use crate::{Context, Exchange, LiveDoor, Visitor, channel::of_session};
use accord_serving::body::Document;
use accord_serving::logins::{Holder, Person};
use accord_serving::query::{PathId, check_query};
use accord_serving::reply::{encoded, json};
use accord_serving::{Reply, alx_envelope};

// A link in a message of another site leads here, so that every origin may navigate to it.
pub(super) async fn shell(
    visitor: Visitor,
    uri: Uri,
    headers: HeaderMap,
    Path(session): Path<String>,
) -> Reply {
    check_query(&uri, &[])?;
    let Ok(session) = SessionId::new(session) else {
        let message = "The address names no live session. Check it, or run accord live list.";
        let failure = Failure::new(Code::HttpRouteUnknown, message);
        return Ok(error_page(&failure, &headers));
    };
    let is_open = !visitor.host.keys().required().await?;
    let mut shell = Shell::new(visitor.host.logins().name(), is_open);
    if let Some(url) = visitor.host.overrides().of(&session).renderer_url {
        shell = shell.module(url);
    }
    Ok(page(StatusCode::OK, |nonce| shell.with_nonce(nonce).html(), &headers))
}

pub(super) async fn link(exchange: Exchange, Call { path, query, .. }: Call<MakeLink>) -> Reply {
    let context = exchange.context;
    let named = query.actor.map(|named| By::parse(&named, Door::Http));
    let named = named.transpose().map_err(|refused| refused.at("/actor"))?;
    // What the page answers counts as the word of this actor, so a key of no person signs in no
    // person, unless it may act as others.
    let author = Author::proven(named.map(|named| named.actor), "/actor");
    let found = find_open(&context, &path.session).await?;
    // A worker could sign in as a person, and answer what it asked.
    let actor = context.caller.attribute(MakeLink::NEED, author)?.actor.map(|actor| actor.key());
    let Context { host, caller, correlation } = context;
    let person = Person { holder: Holder::of(&caller), actor };
    let (path, until) = page_link(&host, person, &found.session.id);
    let url = host.url().map(|base| format!("{base}{path}"));
    let expires_at = Timestamp::emit(until);
    let envelope = alx_envelope!(correlation, LiveLinkEnvelope { url, path, expires_at });
    Ok(unstored(encoded(StatusCode::CREATED, &envelope)))
}

/// A link that signs a person in on the page of a session, as a path of this server, and until when
/// it can be used.
pub fn page_link(host: &LiveDoor, person: Person, session: &SessionId) -> (String, Time) {
    let ttl = i64::try_from(host.settings().live.link_ttl.as_secs().max(1)).unwrap_or(i64::MAX);
    let (secret, until) = host.logins().mint_link(person, host.live().now(), ttl);
    (format!("/live/{}#t={secret}", percent_encoded(session.as_str())), until)
}

pub(super) async fn fragments(
    PathId(session): PathId<SessionId>,
    SignedIn { context, holder, .. }: SignedIn,
) -> Reply {
    let found = find(&context, &session, Verb::Read).await?;
    check_question(&context, &holder, &found).await?;
    // A kit asks what the page shows if this document is another one.
    if let Some(document) = context.host.overrides().of(&session).ui_initialize {
        return Ok(unstored(json(StatusCode::OK, document.to_string())));
    }
    let mut page = page_of(&context.host, &found).await?;
    if matches!(holder, Holder::Linked(_)) {
        page = of_question(page);
    }
    let envelope = alx_envelope!(context.correlation, LivePageEnvelope { page });
    Ok(unstored(encoded(StatusCode::OK, &envelope)))
}

/// What is shown of a session, here and in the frame of a host.
pub(crate) async fn page_of(host: &LiveDoor, found: &Found) -> Result<LivePage, Failure> {
    let live = host.live();
    let facts = live.page_facts(&found.session.id).await?;
    // Also when nothing is asked any more.
    let asked_by = asked_by(&found.content.ui).map(|by| format!("{}:{}", by.kind, by.id));
    let given = facts.answers.iter().map(|answer| {
        let row = &answer.row;
        Given { number: row.seq, at: row.at, event: &row.data, is_read: answer.is_read }
    });
    let given: Vec<_> = given.collect();
    let now = live.now();
    let snapshot = found.session.snapshot(&found.content, now);
    let view = LiveView::new(&snapshot, asked_by.as_deref(), now);
    let asking = match facts.ask.is_some() {
        true if live.has_consumer(&found.session.id) => Asking::Waits,
        true => Asking::Later,
        false => Asking::No,
    };
    let by_person = AnswerRules::of_ui(&found.content.ui).by_person;
    Ok(LivePage {
        head: view.head().into_string(),
        agent: agent(&view, &snapshot, asking, &given).into_string(),
        props: view.props().into_string(),
        actions: view.actions().into_string(),
        answers: answers(&snapshot, &given).into_string(),
        streams: view.streams().into_string(),
        digest: found.content.shown().to_string(),
        epoch: view.epoch(),
        ended: view.is_ended(),
        ends_at: view.ends().unix_millis(),
        now: now.unix_millis(),
        answered_by: by_person.then_some(AnsweredBy::Person),
        app_id: None,
        page_url: None,
        messages: None,
        no_channel: None,
        extra: Object::new(),
    })
}

pub(super) async fn token(
    PathId(session): PathId<SessionId>,
    SignedIn { context, holder, login, visitor }: SignedIn,
) -> Reply {
    visitor.check_worker()?;
    if matches!(holder, Holder::Linked(_)) {
        let message = "a link to a question opens no channel; the page answers without one";
        return Err(refuse::bootstrap_not_supported(message).into());
    }
    let found = find_open(&context, &session).await?;
    let (session, app) = (&found.session.id, &found.session.app_id);
    let live = context.host.live();
    live.open_secret().await?;
    // The socket ends with the login, and the ledger says who answered.
    let claims = Holder::of(&context.caller).page_claims(&login);
    let minted = live.mint_token_with(TokenKind::Ws, session, app, claims);
    let minted = minted.ok_or_else(|| refuse::bootstrap_not_supported("there are no tokens"))?;
    let (ws_token, app_id) = (minted.text, app.as_str().to_owned());
    let expires_at = Timestamp::emit(minted.expires_at);
    let correlation = &context.correlation;
    let envelope = alx_envelope!(correlation, LiveTokenEnvelope { ws_token, app_id, expires_at });
    Ok(unstored(encoded(StatusCode::OK, &envelope)))
}

pub(super) async fn act(
    PathId(session): PathId<SessionId>,
    SignedIn { context, holder, login, visitor }: SignedIn,
    document: Document,
) -> Reply {
    visitor.check_worker()?;
    let mut request: LiveAnswerRequest = document.read()?;
    let found = find_open(&context, &session).await?;
    check_question(&context, &holder, &found).await?;
    if matches!(holder, Holder::Linked(_)) && request.expect.is_none() {
        // It is for this question, also if the agent asks another one in this moment.
        request.expect = Some(found.content.shown().to_string());
    }
    let Context { host, caller, correlation } = context;
    let person = host.logins().opened(&login, host.live().now()).await?;
    let by = person.and_then(|person| person.actor);
    let app = &found.session.app_id;
    let live = host.live();
    let answered = live.answer_as(&caller, app, &session, request, by.as_ref(), Door::Page).await;
    let envelope = LiveAckEnvelope::wrap(answered.map_err(of_session)?, correlation.as_str());
    Ok(unstored(encoded(StatusCode::OK, &envelope)))
}

/// The session, if the caller has the right in its project. A session of a project that the caller
/// cannot read is the same as none.
async fn find(context: &Context, session: &SessionId, verb: Verb) -> Result<Found, Failure> {
    let missing = || refuse::session_not_found("there is no such live session");
    let found = context.host.live().found(session, None).await?.ok_or_else(missing)?;
    let project = ProjectId::new(found.session.app_id.as_str()).map_err(|_| missing())?;
    let access = context.caller.access();
    access.may(Verb::Read, &project).map_err(|_| missing())?;
    access.may(verb, &project)?;
    Ok(found)
}

/// Refuses a person with a link to another question. Another session is the same as none. Fails
/// with `SESSION_NOT_FOUND`, `LIVE_ASK_ENDED`.
async fn check_question(context: &Context, holder: &Holder, found: &Found) -> Result<(), Failure> {
    let Holder::Linked(question) = holder else { return Ok(()) };
    let (session, app) = (&found.session.id, &found.session.app_id);
    if session.as_str() != question.session || app.as_str() != question.project.as_str() {
        return Err(refuse::session_not_found("there is no such live session"));
    }
    let asks = context.host.live().page_facts(session).await?.ask;
    match asks.is_some_and(|ask| ask.since.time().unix_millis() == question.since) {
        true => Ok(()),
        false => Err(Failure::new(Code::LiveAskEnded, "this question does not wait any more")),
    }
}

/// What a link to a question shows: not what was answered before.
fn of_question(page: LivePage) -> LivePage {
    LivePage { answers: String::new(), streams: String::new(), no_channel: Some(true), ..page }
}

/// The session, if the caller may write and the session takes answers.
async fn find_open(context: &Context, session: &SessionId) -> Result<Found, Failure> {
    let found = find(context, session, Verb::Write).await?;
    if !found.session.is_active(context.host.live().now()) {
        return Err(Failure::new(Code::LiveSessionEnded, "this live session has ended"));
    }
    context.host.live().check_open(&found.session.app_id).await?;
    Ok(found)
}
