//! The page of a live session: the empty page, what it fetches, and the link to it.

use accord_base::{Author, By, Decision, Door, Need, ProjectId, Verb};
use accord_contract::codes::{Code, Failure};
use accord_contract::text::percent_encoded;
use accord_contract::time::{Time, Timestamp};
use accord_contract::{envelope, message};
use accord_live::Found;
use accord_live_core::session::asked_by;
use accord_live_core::token::TokenKind;
use accord_live_core::{SessionId, refuse};
use accord_pages::{Given, LiveView, Shell, agent, answers};
use axum::extract::Path;
use hyper::{HeaderMap, StatusCode, Uri};

use super::access::SignedIn;
use super::{PAGE, error_page, page, unstored};
use crate::http::Route;
use crate::http::reply::{encoded, json};
use crate::http::routes::{PathId, Query, check_query};
use crate::http::{Context, Host, Reply, Visitor};
use crate::serve::url_of_host;
use accord_serving::acting::ACTOR;
use accord_serving::alx_envelope;
use accord_serving::logins::{Holder, Person};
use accord_serving::table::Content;

envelope! {
    /// A link that signs a person in.
    pub(crate) struct LiveLinkEnvelope("LiveLinkEnvelope") {
        /// The link: the address of the page with a secret that works once. The secret is in the
        /// fragment, which no browser sends. Null if the server does not listen on an address.
        required_or_null url: String = "url", "url";
        /// The link without the address of the server.
        required path: String = "path", "path";
        /// Until when it can be used.
        required expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }
}

message! {
    /// What a page shows of a live session, as fragments of HTML.
    pub struct LivePage("LivePage", open) {
        /// Title and facts.
        required head: String = "head", "html";
        /// Whether the agent waits for an answer, or what was answered and whether it was read.
        required agent: String = "agent", "html";
        /// What the agent shows.
        required props: String = "props", "html";
        /// What a person can do.
        required actions: String = "actions", "html";
        /// The last answers.
        required answers: String = "answers", "html";
        /// The lists of messages.
        required streams: String = "streams", "html";
        /// The version of what is shown.
        required epoch: u64 = "epoch", "epoch";
        /// Whether the session has ended.
        required ended: bool = "ended", "flag";
        /// When it ends without activity, in milliseconds.
        required ends_at: i64 = "ends_at", "time:unix-millis";
        /// The time of the server, in milliseconds.
        required now: i64 = "now", "time:unix-millis";
    }
}

envelope! {
    /// What a page shows of a live session.
    pub(crate) struct LivePageEnvelope("LivePageEnvelope") {
        /// The fragments.
        required page: LivePage = "page", "live-page";
    }
}

envelope! {
    /// A token that opens the channel of a session.
    pub(crate) struct LiveTokenEnvelope("LiveTokenEnvelope") {
        /// The token.
        required ws_token: String = "ws_token", "credential";
        /// The app of the session.
        required app_id: String = "app_id", "app-id";
        /// When the token expires.
        required expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }
}

pub(super) fn routes() -> Vec<Route> {
    let missing = [Code::GguiSessionNotFound, Code::AgenticUnauthorized];
    vec![
        Route::get(
            "live_shell",
            "/live/{live_session_id}",
            "Returns the page of a live session, without data. Needs no key: the page signs in.",
            shell,
        )
        .answers(200, "The page.", Content::Text(PAGE))
        .answers(404, "There is no such page.", Content::Text(PAGE))
        .admits_itself(false),
        Route::post(
            "live_link",
            "/accord/v1/live/{live_session_id}/link",
            "Makes a link that signs a person in on the page of a live session, once and within a \
             minute, unless the setting `live.link_ttl` says otherwise. `accord live open` prints \
             it.",
            link,
        )
        .needs(Need::Decide(Decision::SignIn))
        .query(ACTOR, "In whose name the person answers. Default: the actor of the key.")
        .answers(201, "The link.", Content::json::<LiveLinkEnvelope>())
        .refuses(&missing)
        .refuses(&[Code::LiveSessionEnded, Code::XchainNotForWorkers, Code::AofPersonRequired])
        .refuses(&[Code::AgenticProjectArchived]),
        Route::get(
            "live_page",
            "/accord/v1/live/{live_session_id}/page",
            "Returns what the page of a live session shows. Needs both halves of a login.",
            fragments,
        )
        .answers(200, "The fragments.", Content::json::<LivePageEnvelope>())
        .refuses(&missing)
        .refuses(&[Code::LoginRequired])
        .admits_itself(false),
        Route::post(
            "live_token",
            "/accord/v1/live/{live_session_id}/token",
            "Mints the token that opens the channel of a live session. Needs both halves of a \
             login.",
            token,
        )
        .needs(Need::Write)
        .may_take(Content::json::<accord_contract::wire::Object>())
        .answers(200, "The token.", Content::json::<LiveTokenEnvelope>())
        .refuses(&missing)
        .refuses(&[Code::LoginRequired, Code::LiveSessionEnded, Code::HttpMediaType])
        .refuses(&[Code::GguiBootstrapNotSupported, Code::AgenticProjectArchived])
        .admits_itself(false),
    ]
}

// A link in a message of another site leads here, so that every origin may navigate to it.
async fn shell(
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
    if let Some(url) = visitor.host.live_overrides().of(&session).renderer_url {
        shell = shell.module(url);
    }
    Ok(page(StatusCode::OK, |nonce| shell.with_nonce(nonce).html(), &headers))
}

async fn link(context: Context, PathId(session): PathId<SessionId>, query: Query) -> Reply {
    let named = ACTOR.read(&query.params()?)?.map(|named| By::parse(named, Door::Http));
    let named = named.transpose().map_err(|refused| refused.at("/actor"))?;
    // What the page answers counts as the word of this actor, so a key of no person signs in no
    // person.
    let author = Author::proven(named.map(|named| named.actor), "/actor");
    let sign_in = Need::Decide(Decision::SignIn);
    let found = find(&context, &session, Verb::Write).await?;
    check_active(&context, &found)?;
    context.host.live().check_open(&found.session.app_id).await?;
    // A worker could sign in as a person, and answer what it asked.
    let actor = context.caller.attribute(sign_in, author)?.actor.map(|actor| actor.key());
    let Context { host, caller, correlation } = context;
    let person = Person { holder: Holder::of(&caller), actor };
    let (path, until) = page_link(&host, person, &found.session.id);
    let url = url_of_host(host.folder()).map(|base| format!("{base}{path}"));
    let expires_at = Timestamp::emit(until);
    let envelope = alx_envelope!(correlation, LiveLinkEnvelope { url, path, expires_at });
    Ok(unstored(encoded(StatusCode::CREATED, &envelope)))
}

/// A link that signs a person in on the page of a session, as a path of this server, and until when
/// it can be used.
pub(crate) fn page_link(host: &Host, person: Person, session: &SessionId) -> (String, Time) {
    let ttl = i64::try_from(host.settings().live.link_ttl.as_secs().max(1)).unwrap_or(i64::MAX);
    let (secret, until) = host.logins().mint_link(person, host.live().now(), ttl);
    (format!("/live/{}#t={secret}", percent_encoded(session.as_str())), until)
}

async fn fragments(
    PathId(session): PathId<SessionId>,
    SignedIn { context, .. }: SignedIn,
) -> Reply {
    let found = find(&context, &session, Verb::Read).await?;
    // A kit asks what the page shows if this document is another one.
    if let Some(document) = context.host.live_overrides().of(&session).ui_initialize {
        return Ok(unstored(json(StatusCode::OK, document.to_string())));
    }
    let live = context.host.live();
    let facts = live.page_facts(&found.session.id).await?;
    // Also when nothing is asked any more.
    let asked_by = asked_by(&found.content.ui).map(|by| format!("{}:{}", by.kind, by.id));
    let given = facts.answers.iter();
    let given = given.map(|answer| {
        let row = &answer.row;
        Given { number: row.seq, at: row.at, event: &row.data, is_read: answer.is_read }
    });
    let given: Vec<_> = given.collect();
    let now = live.now();
    let snapshot = found.session.snapshot(&found.content, now);
    let view = LiveView::new(&snapshot, asked_by.as_deref(), now);
    let page = LivePage {
        head: view.head().into_string(),
        agent: agent(&view, &snapshot, facts.ask.is_some(), &given).into_string(),
        props: view.props().into_string(),
        actions: view.actions().into_string(),
        answers: answers(&snapshot, &given).into_string(),
        streams: view.streams().into_string(),
        epoch: view.epoch(),
        ended: view.is_ended(),
        ends_at: view.ends().unix_millis(),
        now: now.unix_millis(),
        extra: accord_contract::wire::Object::new(),
    };
    let envelope = alx_envelope!(context.correlation, LivePageEnvelope { page });
    Ok(unstored(encoded(StatusCode::OK, &envelope)))
}

async fn token(PathId(session): PathId<SessionId>, SignedIn { context, login }: SignedIn) -> Reply {
    let found = find(&context, &session, Verb::Write).await?;
    check_active(&context, &found)?;
    context.host.live().check_open(&found.session.app_id).await?;
    let (session, app) = (&found.session.id, &found.session.app_id);
    let live = context.host.live();
    live.open_secret().await?;
    // The socket ends with the login, and the ledger says who answered.
    let claims = Holder::of(&context.caller).page_claims(&login);
    let minted = live.mint_token_with(TokenKind::Ws, session, app, claims);
    let minted = minted.ok_or_else(|| refuse::bootstrap_not_supported("there are no tokens"))?;
    let envelope = alx_envelope!(
        context.correlation,
        LiveTokenEnvelope {
            ws_token: minted.text,
            app_id: app.as_str().to_owned(),
            expires_at: Timestamp::emit(minted.expires_at),
        }
    );
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

fn check_active(context: &Context, found: &Found) -> Result<(), Failure> {
    if found.session.is_active(context.host.live().now()) {
        return Ok(());
    }
    Err(Failure::new(Code::LiveSessionEnded, "this live session has ended"))
}
