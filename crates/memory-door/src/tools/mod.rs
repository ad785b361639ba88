//! The tools of the memory: sessions, packages, reviews, facts.

mod facts;
mod overview;
mod packages;
mod prompts;
mod questions;
mod resources;
mod reviews;
mod sessions;

use accord_api::{Call as OperationCall, NoBody, Operation, Verbatim};
use accord_contract::{Code, Failure, Object, Protocol, Value};
use accord_memory_core::operations::{InProject, OfPackage, PackageWithin, WriteHeaders};

use accord_mcp::{Advice, Answer, Argument, Call, HostRequest, ToolResult, Toolset, Visibility};

pub(super) use accord_mcp::call::id;

pub(super) use self::facts::{assertion, invalidation, moment};
pub(super) use self::overview::SHORTENED_DIGEST as DIGEST;
pub(super) use self::packages::{LIST as PACKAGES, deposited};
pub(super) use self::sessions::{start, started};

pub static TOOLSET: Toolset = Toolset {
    name: "memory",
    protocol: Protocol::Agentic,
    instructions: "Memory (memory_*): packages (what was done, decided, left open), facts, \
        sessions.\n1. Begin with memory_session_start, once (project, who you are), then \
        memory_orient.\n2. memory_pull (query) before you decide or redo something.\n3. \
        memory_fact_assert for what others look up: versions, owners, states, limits.\n4. \
        memory_deposit when work is done, something is decided, or you stop: what and why, \
        decisions_made, open_questions, handoff_note. answers ends a question, supersedes replaces \
        a package.\n5. memory_session_end last.",
    details: "A complete package never changes: correct it with another one that names it in \
        supersedes. Everybody who begins is shown first: package_type handoff, and significance 8 \
        or more, for a rule that holds until it is superseded. memory_projects lists the projects.",
    tools: &[
        sessions::START,
        overview::ORIENT,
        packages::PULL,
        questions::QUESTIONS,
        packages::DEPOSIT,
        facts::FACTS,
        facts::ASSERT,
        facts::INVALIDATE,
        overview::DIGEST,
        reviews::FLAG,
        reviews::REVIEW,
        reviews::REVISIONS,
        sessions::SESSIONS,
        sessions::END,
        overview::PROJECTS,
    ],
    prompts: &[prompts::BRIEF_ME],
    resources: Some(&resources::PACKAGES),
    advice: &[
        Advice::about(
            Code::McpArgumentMissing,
            "project_id",
            "Pass project_id, or call memory_session_start once; memory_projects lists the \
             projects.",
        ),
        Advice::about(
            Code::McpArgumentMissing,
            "actor",
            "Pass actor, such as agent:claude, or call memory_session_start once with it.",
        ),
        Advice::about(
            Code::McpArgumentMissing,
            "session_id",
            "Pass session_id; memory_sessions lists them.",
        ),
        Advice::on(
            Code::McpSessionNeeded,
            "Call memory_session_start once, and pass the session_id that it returns with every \
             call that writes; or pass actor, such as agent:claude.",
        ),
        Advice::on(
            Code::AgenticProjectNotFound,
            "Check project_id with memory_projects. A new project is created by the first \
             memory_session_start, memory_deposit or memory_fact_assert, unless the server \
             requires it to be created first.",
        ),
        Advice::on(
            Code::AgenticPackageNotFound,
            "Check package_id: memory_pull lists packages with their ids.",
        ),
        Advice::on(Code::AgenticSessionNotFound, "Check session_id with memory_sessions."),
        Advice::on(Code::AgenticAmbiguousPackageId, "Pass project_id, too."),
        Advice::on(
            Code::AgenticDuplicatePackageId,
            "Leave package_id out, so that a new one is made. If you only repeat a deposit whose \
             answer was lost, it is stored: read it with memory_pull.",
        ),
        Advice::on(
            Code::AgenticCredentialFound,
            "Deposit it without the credential: say where it is kept. Pass allow_credentials: true \
             only if a person asked you to store it.",
        ),
        Advice::on(
            Code::AgenticReservedPackage,
            "Deposit it as yourself, without x-approved_by, and without a protocol in x-source.",
        ),
        Advice::on(
            Code::AgenticInvalidTransition,
            "memory_revisions shows the status of the package.",
        ),
        Advice::on(
            Code::AgenticProjectArchived,
            "Ask a person to restore the project; reading it still works.",
        ),
        Advice::on(Code::AccessDenied, "Do not retry; ask a person for a key that covers this."),
        Advice::on(Code::AgenticSearchNotSupported, "Call memory_pull without query."),
        Advice::on(
            Code::HostTimeout,
            "If it was a write, check with memory_pull or memory_facts whether it succeeded before \
             you repeat it.",
        ),
        Advice::on(
            Code::HostUnreachable,
            "Tell the person you work for that the memory cannot be reached.",
        ),
    ],
    visibility: |_| Visibility::Model,
    is_cancellable: false,
};

/// The project. Default: that of the session, or the server's.
const PROJECT: Argument = Argument::text("project_id", "");

/// Who acts. Default: the actor of the session or of the key, or the client.
const ACTOR: Argument = Argument::text("actor", "");

/// `next_cursor` of the page before.
const CURSOR: Argument = Argument::text("cursor", "");

/// Members of the caller's own.
const EXTRA: Argument = Argument::members("extra", "x- members.");

/// The session in which it is done.
pub(super) const IN_SESSION: Argument = Argument::text("session_id", "");

/// Stores what is refused otherwise.
pub(super) const ALLOW_CREDENTIALS: Argument =
    Argument::flag("allow_credentials", "Store a private key or token all the same.");

/// The members of a receipt.
pub(super) const FACT_RECEIPT: &[&str] = &[
    "fact_id",
    "project_id",
    "subject",
    "predicate",
    "value",
    "valid_from",
    "valid_to",
    "warnings",
];

pub(super) const PACKAGE_RECEIPT: &[&str] =
    &["package_id", "project_id", "status", "content_hash", "warnings"];

pub(super) fn reading<O: Operation<Body = NoBody>>(path: O::Path, query: O::Query) -> HostRequest {
    HostRequest::operation(&OperationCall::<O>::new(path, query, NoBody))
}

pub(super) fn credentials(call: &Call<'_>) -> WriteHeaders {
    let allow_credentials = call.flag("allow_credentials") == Some(true);
    // A model names packages as a briefing shows them.
    WriteHeaders { allow_credentials, complete_ids: true }
}

/// A document of arguments, as the model wrote them.
pub(super) fn written<M>(body: Object) -> Verbatim<M> {
    Verbatim::json(Value::Object(body).to_string())
}

pub(super) fn in_project(call: &Call<'_>) -> Result<InProject, Failure> {
    Ok(InProject { project: id("project_id", call.project()?)? })
}

/// The package of the call, and the project that the call names.
pub(super) fn of_package(call: &Call<'_>) -> Result<(OfPackage, PackageWithin), Failure> {
    let package = id("package_id", call.required("package_id")?)?;
    let project = call.text("project_id").map(|text| id("project_id", text)).transpose()?;
    Ok((OfPackage { package }, PackageWithin { project }))
}

pub(super) fn text(call: &Call<'_>, name: &str) -> Option<String> {
    call.text(name).map(str::to_owned)
}

/// A number argument, whose bounds the schema of the tool has.
pub(super) fn number(call: &Call<'_>, name: &str) -> Option<u32> {
    call.number(name).and_then(|number| u32::try_from(number).ok())
}

pub(super) fn tokens(budget: usize) -> Option<u32> {
    Some(u32::try_from(budget).unwrap_or(u32::MAX))
}

/// The receipt of a write, with these members of the answer.
pub(super) fn receipt(answer: &Answer, names: &[&str]) -> Result<ToolResult, Failure> {
    let mut members = answer.picked(names)?;
    members.insert("created".into(), answer.created().into());
    Ok(ToolResult::receipt(members))
}
