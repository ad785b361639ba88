//! The kit's self-test over the wire: `accord serve --fault NAME` has one seeded fault, and the
//! case of its clause that the table names fails on that server. On a server without a fault the
//! same case passes.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use accord_contract::faults::Fault;
use accord_kit::driver::{ChannelServer, ControlOptions, HttpOptions};
use accord_kit::verdict::Verdict;
use accord_kit::{Corpus, Protocol, Reporters, RunOptions};

use crate::checks_live::{CONTROL, TOKEN, create_keys};
use crate::server::Server;

/// How many faults the cases over the wire must catch.
const LEAST: usize = 25;

/// A fault, and a case of its clause that fails on a server with it.
const CAUGHT: &[(&str, &str)] = &[
    ("any-version", "ggui/version/a-shorter-version-is-another"),
    ("versions-unnamed", "ggui/version/a-refusal-names-the-versions"),
    ("old-client-stays", "ggui/version/a-refused-version-closes"),
    ("errors-stamped", "ggui/version/errors-are-not-stamped"),
    ("frames-unstamped", "ggui/version/acks-are-stamped"),
    ("request-id-dropped", "ggui/transport/a-pong-has-the-id-of-its-ping"),
    ("unknown-is-invalid", "ggui/transport/an-unknown-type"),
    ("unsubscribed-ignored", "ggui/transport/a-host-context-needs-a-subscribe"),
    ("other-session-served", "ggui/action/another-session-is-not-touched"),
    ("subscribed-again", "ggui/subscribe/the-second-subscribe-keeps-the-first"),
    ("host-context-trimmed", "ggui/host-context/persists"),
    ("any-app", "ggui/subscribe/another-app-is-told-the-request"),
    ("expired-tokens-taken", "ggui/auth/an-expired-token"),
    ("signatures-ignored", "ggui/auth/a-forged-token"),
    ("any-kind-of-token", "ggui/auth/a-session-token-is-no-channel-token"),
    ("refreshed-for-ever", "ggui/tools/refresh-that-is-too-late"),
    ("tokens-live-long", "ggui/fallback/state-with-an-expired-token"),
    ("token-of-any-session", "ggui/auth/a-token-of-another-session"),
    ("pending-admitted", "ggui/auth/a-url-token-alone-is-no-identity"),
    ("keys-unchecked", "ggui/auth/a-wrong-key-in-the-query-is-refused"),
    ("counters-restart", "ggui/sequence/a-new-beginning-goes-on-counting"),
    ("version-unsaid", "ggui/version/the-same-version"),
    ("undeclared-action-taken", "ggui/action/an-undeclared-action"),
    ("data-unchecked", "ggui/action/keyword-const"),
    ("next-step-ignored", "ggui/action/the-tool-comes-from-the-contract"),
    ("tool-not-filled", "ggui/action/the-tool-comes-from-the-contract"),
    ("ledger-skips", "ggui/sequence/since-zero-replays-all"),
    ("sent-again-taken-again", "ggui/action/a-repeated-action-gets-the-first-ack"),
    ("numbers-alone-count", "ggui/action/numbers-of-a-client-are-not-checked"),
    ("ack-before-append", "ggui/sequence/the-subscribe-ack-has-the-last-number"),
    ("stream-skips", "ggui/stream/frames-are-gap-free"),
    ("everything-kept", "ggui/stream/declared-none-is-not-replayed"),
    ("ring-unbounded", "ggui/stream/a-lost-tail-is-told"),
    ("agents-use-reserved", "ggui/reserved/an-agent-emits-on-no-reserved-channel"),
    ("last-seen-again", "ggui/stream/from-replays-the-tail"),
    ("fresh-sees-nothing", "ggui/reserved/replayed-without-asking"),
    ("truncation-hidden", "ggui/stream/a-lost-tail-is-told"),
    ("future-replayed", "ggui/fallback/events-beyond-the-last"),
    ("any-position", "ggui/sequence/since-a-fraction"),
    ("lifecycle-not-kept", "ggui/reserved/a-wait-is-replayed"),
    ("payload-unchecked", "ggui/tools/emit-of-an-open-payload"),
    ("any-channel-ends", "ggui/tools/emit-completes-no-endless-channel"),
    ("any-lifecycle", "ggui/reserved/lifecycle-no-kind-is-refused"),
    ("any-component", "ggui/reserved/preview-unknown-component-is-refused"),
    ("reserved-names-declared", "ggui/reserved/an-agent-declares-no-reserved-slot"),
    ("names-shared", "ggui/render/two-things-of-one-name"),
    ("steps-unresolved", "ggui/render/an-unknown-next-step"),
    ("sources-unresolved", "ggui/render/an-unknown-source"),
    ("empty-props-spec", "ggui/render/no-props-in-a-props-spec"),
    ("arrays-of-anything", "ggui/render/a-list-without-items"),
    ("prototype-slots", "ggui/render/a-slot-with-the-name-of-a-prototype"),
    ("explanations-count", "ggui/render/texts-that-explain-do-not-count"),
    ("shapes-open", "ggui/action/shapes-are-closed"),
    ("formats-annotate", "ggui/action/formats-are-checked"),
    ("first-error-only", "ggui/action/every-violation-is-listed"),
    ("slots-unchecked", "ggui/tools/context-of-a-wrong-type"),
    ("context-unlimited", "ggui/tools/context-with-too-many-slots"),
    ("required-ignored", "ggui/render/an-action-must-have-what-its-tool-requires"),
    ("extras-fit", "ggui/render/an-action-has-only-what-its-tool-takes"),
    ("items-fit", "ggui/render/an-action-has-the-items-of-its-tool"),
    ("void-sends-anything", "ggui/render/a-void-action-must-fit-its-tool"),
    ("required-unsorted", "ggui/render/the-required-props-are-sorted"),
    ("nullable-dropped", "ggui/render/the-hash-of-the-props"),
    ("hash-before-form", "ggui/render/the-hash-of-the-props"),
    ("everything-is-safe", "ggui/render/the-profile-of-the-props"),
    ("props-unchecked", "ggui/render/refused-props-keep-the-handshake"),
    ("amendments-raise", "ggui/tools/amend-keeps-the-epoch"),
    ("updates-keep", "ggui/tools/update-replaces-props"),
    ("unchanged-is-change", "ggui/tools/update-without-a-change"),
    ("nulls-kept", "ggui/tools/update-merges-props"),
    ("mixed-fields-taken", "ggui/tools/update-of-two-kinds"),
    ("any-theme", "ggui/render/an-unknown-theme"),
    ("any-submission", "ggui/tools/submit-of-an-unknown-kind"),
    ("one-drain-ack", "ggui/tools/consume-tells-the-subscribers"),
    ("data-lost", "ggui/tools/consume-gets-the-action"),
    ("wait-unsaid", "ggui/tools/consume-shows-that-the-agent-waits"),
    ("foreign-tools", "ggui/channel/of-a-foreign-tool"),
    ("channel-from-zero", "ggui/channel/subscribed-again-starts-again"),
    ("limit-ignored", "ggui/fallback/events-with-the-limit-501"),
    ("query-beats-header", "ggui/fallback/stream-goes-on-after-its-last-event"),
    ("actions-unstored", "ggui/sequence/the-subscribe-ack-has-the-last-number"),
    ("earlier-forgotten", "ggui/action/a-repeated-action-gets-the-first-ack"),
    ("host-context-unstored", "ggui/host-context/persists"),
    ("first-frame-lost", "ggui/stream/replay-and-live-do-not-overlap"),
    ("last-frame-again", "ggui/stream/a-late-subscriber-gets-each-frame-once"),
    ("one-page-replayed", "ggui/sequence/long-replays-are-complete"),
    ("emitted-undelivered", "ggui/tools/emit-reaches-the-subscriber"),
    ("props-untold", "ggui/tools/update-replaces-props"),
    ("pipe-not-emptied", "ggui/tools/consume-drains"),
    ("handshakes-kept", "ggui/render/a-handshake-is-used-once"),
    ("end-unnoticed", "ggui/session/an-expired-session-closes"),
];

/// The faults that only the catalogs catch, which call the function of the rule, and why no server
/// shows them.
const ONLY_BY_CATALOGS: &[(&str, &[&str])] = &[
    (
        "the layer of WebSockets ends such a frame before it is read",
        &["large-frames-taken", "early-frames-unlimited"],
    ),
    ("a server may keep more of a host context", &["host-context-open"]),
    (
        "the keys of a run reach one app each",
        &["own-app-first", "tenant-ignored", "refusal-says-more"],
    ),
    (
        "the services ask the store for no more than the rule allows",
        &["frames-twice", "drained-again", "pins-move", "any-event-type"],
    ),
    (
        "a case would need more time, a tool that fails, or much code",
        &["handshakes-for-ever", "polled-at-will", "secrets-shown", "inline-unlimited"],
    ),
    (
        "each answer of this server can be mounted, and each address without a session is a miss",
        &["nothing-is-mounted", "empty-locators"],
    ),
    (
        "the answer is the same for most contracts",
        &[
            "empty-counts",
            "force-ignored",
            "enums-fit",
            "untyped-fits",
            "mismatch-warns",
            "missing-tools-unnoticed",
        ],
    ),
    (
        "gadgets and bindings are functions",
        &[
            "duplicates-taken",
            "unknown-is-elsewhere",
            "any-package",
            "env-unchecked",
            "last-gate-decides",
            "transport-fields-taken",
            "standard-fetched",
            "styles-invented",
            "loopback-encrypted",
            "bare-matches-servers",
            "bindings-uncapped",
            "bindings-twice",
        ],
    ),
];

/// A case that no fault concerns: it shows that the server works.
const ALIVE: &str = "ggui/fallback/the-server-is-alive";

#[test]
fn a_case_of_its_clause_catches_every_fault_that_a_server_shows() {
    let protocol = &Corpus::embedded_protocol("ggui").expect("the protocol");
    let faults = faults();
    for (name, id) in CAUGHT {
        let case = protocol.case(id).expect("a case");
        assert!(case.clauses.iter().any(|cited| cited == faults[name].clause), "{name}: {id}");
    }
    let place = Place::new();
    let all: BTreeSet<&str> = CAUGHT.iter().map(|(_, id)| *id).collect();
    // The run without a fault is the longest one, and begins first.
    let jobs = std::iter::once((None, all))
        .chain(CAUGHT.iter().map(|(name, id)| (Some(*name), BTreeSet::from([*id]))));
    let jobs = Mutex::new(jobs);
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = jobs.lock().expect("no worker panicked").next();
                    let Some((fault, cases)) = next else { break };
                    let found = place.judge(protocol, fault, &cases);
                    wrong.lock().expect("no worker panicked").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no worker panicked");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_fault_is_in_one_of_the_tables() {
    let only = ONLY_BY_CATALOGS.iter().flat_map(|(_, names)| names.iter().copied());
    let mut named: Vec<&str> = CAUGHT.iter().map(|(name, _)| *name).chain(only).collect();
    named.sort_unstable();
    let known: Vec<&str> = faults().into_keys().collect();
    assert_eq!(named, known);
    assert!(CAUGHT.len() >= LEAST);
}

/// The faults of the rules and those of the services, by name.
fn faults() -> BTreeMap<&'static str, Fault> {
    let all = accord_live_core::faults::ALL.iter().chain(accord_live::faults::ALL);
    all.map(|fault| (fault.name, *fault)).collect()
}

/// A data folder with two keys, which every server gets a copy of.
struct Place {
    folder: tempfile::TempDir,
    keys: [String; 2],
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = create_keys(&folder.path().join("data"));
        Self { folder, keys }
    }

    /// Starts a server, and says what is wrong: a case that fails without a fault, or none that
    /// fails with it.
    fn judge(
        &self,
        protocol: &Protocol,
        fault: Option<&str>,
        cases: &BTreeSet<&str>,
    ) -> Option<String> {
        let data = self.copy(fault.unwrap_or("none"));
        let mut args = CONTROL.to_vec();
        args.extend(fault.iter().flat_map(|name| ["--fault", *name]));
        let server = Server::start(&data, &args);
        let verdicts = self.verdicts(protocol, &server, fault.is_some(), cases);
        drop(server);
        let is_wrong = |(id, (verdict, _)): &(&String, &(Verdict, String))| match fault {
            Some(_) if *id != ALIVE => *verdict != Verdict::Fail,
            _ => *verdict != Verdict::Pass,
        };
        let wrong: Vec<_> = verdicts.iter().filter(is_wrong).collect();
        let name = fault.unwrap_or("no fault");
        (!wrong.is_empty()).then(|| format!("{name}: {wrong:?}"))
    }

    fn verdicts(
        &self,
        protocol: &Protocol,
        server: &Server,
        is_faulty: bool,
        cases: &BTreeSet<&str>,
    ) -> BTreeMap<String, (Verdict, String)> {
        let mut http = HttpOptions::new(&server.url);
        let [key, other] = &self.keys;
        (http.token, http.second_token) = (Some(key.clone()), Some(other.clone()));
        // What a faulty server does not send is not waited for long. A server without a fault has
        // the time that a busy machine needs.
        let (request, case) = if is_faulty { (3, 25) } else { (60, 300) };
        http.request_timeout = Duration::from_secs(request);
        let mut control = ControlOptions::new(server.control());
        control.token = Some(TOKEN.to_owned());
        let adapter = ChannelServer::new(http, Some(&control)).expect("a server");
        let mut options = RunOptions::default();
        options.workers = NonZeroUsize::MIN;
        // Less than the time after which a server closes a socket that is not subscribed.
        options.case_timeout = Duration::from_secs(case);
        let ids = cases.iter().copied().chain([ALIVE]).map(|id| format!("id({id})"));
        let filter = ids.collect::<Vec<_>>().join(" | ");
        options.filter = Some(filter.parse().expect("a filter"));
        let adapter = adapter.mcp("/mcp/live");
        let report = accord_kit::run(protocol, &adapter, &options, &mut Reporters::default());
        let report = report.expect("a report");
        assert_eq!(report.cases.len(), cases.len() + 1);
        let judged = report.cases.into_iter().map(|case| {
            let why = [case.message, case.adapter_message].into_iter().flatten();
            (case.id, (case.verdict, why.collect::<Vec<_>>().join("; ")))
        });
        judged.collect()
    }

    /// A copy of the data folder. No server has opened it, so it has only files.
    fn copy(&self, name: &str) -> PathBuf {
        let copy = self.folder.path().join(name);
        copy_folder(&self.folder.path().join("data"), &copy);
        copy
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the data folder") {
        let path = entry.expect("an entry").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            std::fs::copy(&path, copy).expect("copied");
        }
    }
}
