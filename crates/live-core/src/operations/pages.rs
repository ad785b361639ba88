//! The page of a live session, its login and its assets. A browser calls them: a page reads what
//! it needs with its own modules.

use accord_api::body::{BodyKind, Bytes, MediaType, RequestBody, Text as TextBody};
use accord_api::parameter::{ACTOR, Text};
use accord_api::{Content, Decision, Json, Need, Verbatim, operation, params};
use accord_contract::{Code, Failure, Object, TextForm, Timestamp, Value, envelope, message};

use super::OfLive;
use super::answer::{LiveAckEnvelope, LiveAnswerRequest};
use crate::{AppId, contract::AnsweredBy};

params! {
    #[derive(Default)]
    pub struct LinkQuery {
        /// In whose name the person answers. Default: the actor of the key.
        optional actor: Text = ACTOR;
    }

    pub struct OfAsset {
        /// The version of the files.
        required version: Text = Text::new("version", TextForm::ANY);
        /// The name of the file.
        required name: Text = Text::new("name", TextForm::ANY);
    }
}

envelope! {
    /// A link that signs a person in.
    pub struct LiveLinkEnvelope("LiveLinkEnvelope") {
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
        /// The digest of what is shown, for `x-expect` of an answer.
        required digest: String = "digest", "evidence-digest";
        /// The version of what is shown.
        required epoch: u64 = "epoch", "epoch";
        /// Whether the session has ended.
        required ended: bool = "ended", "flag";
        /// When it ends without activity, in milliseconds.
        required ends_at: i64 = "ends_at", "time:unix-millis";
        /// The time of the server, in milliseconds.
        required now: i64 = "now", "time:unix-millis";
        /// Who may answer: `person`, if the contract asks for a known one.
        optional answered_by: AnsweredBy = "answered_by", "answered-by";
        /// The app of the session, for a frame.
        optional app_id: AppId = "app_id", "app-id";
        /// The address of the page, for a frame, if the server has one.
        optional page_url: String = "page_url", "url";
        /// The messages of the channels after the number that a frame asked for.
        optional messages: Vec<Value> = "messages", "stream-frames";
        /// Whether the login is for this question alone: it opens no channel, and the page asks
        /// again and again instead.
        optional no_channel: bool = "no_channel", "flag";
    }
}

envelope! {
    /// What a page shows of a live session.
    pub struct LivePageEnvelope("LivePageEnvelope") {
        /// The fragments.
        required page: LivePage = "page", "live-page";
    }

    /// A token that opens the channel of a session.
    pub struct LiveTokenEnvelope("LiveTokenEnvelope") {
        /// The token.
        required ws_token: String = "ws_token", "credential";
        /// The app of the session.
        required app_id: String = "app_id", "app-id";
        /// When the token expires.
        required expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }
}

message! {
    /// A request to sign in: with a link, with a key, or with neither through the socket of the
    /// data folder.
    pub struct LoginRequest("LoginRequest", closed) {
        /// The secret of a link, which is the part after `#t=` or `#p=`.
        optional link: String = "link", "credential";
        /// A key.
        optional key: String = "key", "credential";
    }
}

envelope! {
    /// A login that began. The cookie of the answer is its other half.
    pub struct LoginEnvelope("LoginEnvelope") {
        /// The half for the storage of the page. It is shown only this once.
        required secret: String = "secret", "credential";
        /// When the login ends at the latest.
        required expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }

    /// A login that ended.
    pub struct LogoutEnvelope("LogoutEnvelope") {
        /// Whether the page is signed in.
        required signed_in: bool = "signed_in", "flag";
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Html {}

impl MediaType for Html {
    const NAME: &'static str = "text/html; charset=utf-8";
}

/// An object that is sent as JSON, which no form of another page can do. Nobody reads it.
#[derive(Clone, Copy, Debug)]
pub struct AnyObject;

impl BodyKind for AnyObject {
    fn contents() -> Vec<Content> {
        vec![Content::json::<Object>()]
    }
}

impl RequestBody for AnyObject {
    fn is_required() -> bool {
        false
    }

    fn decode(_: &[u8]) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn encode(&self) -> Option<(&'static str, String)> {
        Some(("application/json", "{}".to_owned()))
    }
}

const NOT_FOUND: &[Code] = &[Code::GguiSessionNotFound, Code::AccessDenied];

operation! {
    /// Returns the page of a live session, without data. Needs no key: the page signs in.
    pub struct LoadPage("live_shell", Get "/live/{live_session_id}") of Agentic {
        path OfLive;
        needs Need::Read;
        answers 200 "The page.", TextBody<Html>;
        also 404 "There is no such page.";
    }

    /// Makes a link that signs a person in on the page of a live session, once and within a
    /// minute, unless the setting `live.link_ttl` says otherwise. `accord live open` prints it.
    pub struct MakeLink("live_link", Post "/accord/v1/live/{live_session_id}/link") of Agentic {
        path OfLive;
        query LinkQuery;
        needs Need::Decide(Decision::SignIn);
        answers 201 "The link.", Json<LiveLinkEnvelope>;
        refuses [NOT_FOUND, &[
            Code::LiveSessionEnded,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::AgenticProjectArchived,
        ]];
    }

    /// Returns what the page of a live session shows. Needs both halves of a login.
    pub struct ReadPage("live_page", Get "/accord/v1/live/{live_session_id}/page") of Agentic {
        path OfLive;
        needs Need::Read;
        answers 200 "The fragments.", Json<LivePageEnvelope>;
        refuses [NOT_FOUND, &[Code::LoginRequired, Code::LiveAskEnded]];
    }

    /// Mints the token that opens the channel of a live session. Needs both halves of a login.
    pub struct MakeToken("live_token", Post "/accord/v1/live/{live_session_id}/token") of Agentic {
        path OfLive;
        body AnyObject;
        needs Need::Write;
        answers 200 "The token.", Json<LiveTokenEnvelope>;
        refuses [NOT_FOUND, &[
            Code::LoginRequired,
            Code::NotForWorkers,
            Code::LiveSessionEnded,
            Code::HttpMediaType,
            Code::GguiBootstrapNotSupported,
            Code::AgenticProjectArchived,
        ]];
    }

    /// Records an action of the person who signed in on the page of a live session, as the channel
    /// does, for a page that can open no socket. Needs both halves of a login. With client_id and
    /// client_seq, an action that is sent again counts once.
    pub struct ActOnPage("live_act", Post "/accord/v1/live/{live_session_id}/actions") of Agentic {
        path OfLive;
        body Verbatim<LiveAnswerRequest>;
        needs Need::Write;
        answers 200 "The action is recorded.", Json<LiveAckEnvelope>;
        refuses [NOT_FOUND, &[
            Code::LoginRequired,
            Code::NotForWorkers,
            Code::AofPersonRequired,
            Code::DecisionStale,
            Code::XchainEvidenceChanged,
            Code::LiveAskEnded,
            Code::LiveSessionEnded,
            Code::HttpMediaType,
            Code::AgenticProjectArchived,
            Code::GguiInvalidMessage,
            Code::GguiContractViolation,
            Code::GguiAppendFailed,
        ]];
    }

    /// Signs a page in. The answer has one half of the login, and sets a cookie with the other.
    /// Other routes of pages need both.
    pub struct SignIn("login", Post "/accord/v1/login") of Agentic {
        body Verbatim<LoginRequest>;
        needs Need::Decide(Decision::SignIn);
        answers 200 "The page is signed in.", Json<LoginEnvelope>;
        refuses [&[
            Code::LoginLinkInvalid,
            Code::LoginTooOften,
            Code::AccessDenied,
            Code::NotForWorkers,
            Code::HttpMediaType,
            Code::WireFieldValue,
        ]];
    }

    /// Ends the login of a page.
    pub struct SignOut("logout", Post "/accord/v1/logout") of Agentic {
        body AnyObject;
        needs Need::Write;
        answers 200 "The login has ended.", Json<LogoutEnvelope>;
        refuses [&[Code::LoginRequired, Code::HttpMediaType]];
    }

    /// Returns a module or the style of a page. Needs no key. The content of a version never
    /// changes.
    pub struct LoadAsset("asset", Get "/assets/{version}/{name}") of Agentic {
        path OfAsset;
        needs Need::Read;
        answers 200 "The file.", Bytes;
        nothing 304 "The client has it.";
        refuses [&[Code::HttpRouteUnknown]];
    }
}
