//! The kit notices what a person would: pages that are wrong in one thing each are caught by the
//! cases of the clause that they break.
//!
//! Nothing in the host knows of faults. A front on a port of its own stands before an honest
//! server, and changes one file of the page on its way to the browser.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use accord_kit::driver::{ChannelServer, ControlOptions, HttpOptions};
use accord_kit::verdict::Verdict;
use accord_kit::{Corpus, Reporters, RunOptions, RunReport, run};

use super::World;
use super::control::Control;

/// One way to be wrong.
struct Fault {
    name: &'static str,
    /// A case of the clause that it breaks.
    case: &'static str,
    /// The end of the path of the file.
    file: &'static str,
    /// What is replaced in it, and by what.
    edits: &'static [(&'static str, &'static str)],
}

const START: &str = "GGUI-PAGE-BOOTSTRAP-FAILURE";
const UPDATE: &str = "GGUI-PAGE-PROPS-UPDATE";

const FAULTS: &[(&str, Fault)] = &[
    (
        START,
        Fault {
            name: "failure-without-a-code",
            case: "scripts-that-do-not-load",
            file: "/live/",
            edits: &[("<code>BUNDLE_FETCH_FAILED</code>", "unknown")],
        },
    ),
    (
        START,
        Fault {
            name: "failure-stays-hidden",
            case: "a-bundle-that-is-not-there",
            file: "/page.css",
            edits: &[("animation: show-failure 0s 6s forwards;", "")],
        },
    ),
    (
        START,
        Fault {
            name: "failure-is-always-there",
            case: "a-page-that-starts-names-no-failure",
            file: "/page.css",
            edits: &[
                ("animation: show-failure 0s 6s forwards;", "animation: show-failure 0s forwards;"),
                ("body:not([data-view=\"starting\"]) .failure { display: none; }", ""),
            ],
        },
    ),
    (
        START,
        Fault {
            name: "login-without-a-reason",
            case: "answers-without-content",
            file: "/live.js",
            edits: &[(
                "error instanceof Refused ? error.message : \"The server does not answer\";\n    \
                 if (credential.link",
                "\"The server does not answer\";\n    if (credential.link",
            )],
        },
    ),
    (
        UPDATE,
        Fault {
            name: "old-props-stay",
            case: "an-update-replaces-all-props",
            file: "/live.js",
            edits: &[(
                "fill(place, page[part]);",
                "fill(place, page[part] + (part === \"props\" ? place.innerHTML : \"\"));",
            )],
        },
    ),
    (
        UPDATE,
        Fault {
            name: "reconnect-without-a-look",
            case: "an-update-without-a-connection",
            file: "/live.js",
            edits: &[("    refresh();\n  },\n  changed: refresh,", "  },\n  changed: refresh,")],
        },
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_a_page_is_caught_by_a_case_of_the_clause_that_it_breaks() {
    let Some(browser) = program() else { return };
    let world = World::open(SETTINGS).await;
    let control = Control::open(&world).await;
    let missed = tokio::task::block_in_place(|| {
        let next = AtomicUsize::new(0);
        let judge_all = || {
            let mut missed = Vec::new();
            while let Some((clause, fault)) = FAULTS.get(next.fetch_add(1, Ordering::SeqCst)) {
                let front = Front::start(world.address, Some(fault));
                let only = format!("id(ggui/page/{}) & clause({clause})", fault.case);
                let judge = |limit| {
                    let report = judge(&front, control.address(), &browser, &only, limit);
                    report.cases.into_iter().next().unwrap()
                };
                let mut case = judge(SHORT);
                if case.verdict == Verdict::Error {
                    // A busy machine needs more time to get to the move that fails.
                    case = judge(LONG);
                }
                assert!(front.was_used(), "{} changed nothing", fault.name);
                println!("{:<26} {clause}: {:?}", fault.name, case.verdict);
                if case.verdict != Verdict::Fail {
                    missed.push(format!("{}: {case:?}", fault.name));
                }
            }
            missed
        };
        thread::scope(|scope| {
            // A case that fails mostly waits.
            let workers: Vec<_> = (0..3).map(|_| scope.spawn(judge_all)).collect();
            let missed = workers.into_iter().map(|worker| worker.join().unwrap());
            missed.flatten().collect::<Vec<_>>()
        })
    });
    assert!(missed.is_empty(), "not caught: {missed:#?}");
    world.close().await;
    control.close().await;
}

/// The front itself is honest: what is caught is the fault.
#[tokio::test(flavor = "multi_thread")]
async fn a_front_without_a_fault_passes_the_cases_that_catch_faults() {
    let Some(browser) = program() else { return };
    let world = World::open(SETTINGS).await;
    let control = Control::open(&world).await;
    let cases = FAULTS.iter().map(|(_, fault)| format!("id(ggui/page/{})", fault.case));
    let cases: BTreeSet<String> = cases.collect();
    let filter = cases.iter().cloned().collect::<Vec<_>>().join(" | ");
    let report = tokio::task::block_in_place(|| {
        let front = Front::start(world.address, None);
        judge(&front, control.address(), &browser, &filter, LONG)
    });
    let wrong: Vec<_> = report.cases.iter().filter(|case| case.verdict != Verdict::Pass).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(report.cases.len(), cases.len());
    world.close().await;
    control.close().await;
}

#[test]
fn no_two_faults_of_a_page_have_the_same_name() {
    let names: BTreeSet<_> = FAULTS.iter().map(|(_, fault)| fault.name).collect();
    assert_eq!(names.len(), FAULTS.len());
}

fn judge(
    front: &Front,
    control: SocketAddr,
    browser: &Path,
    filter: &str,
    limit: Duration,
) -> RunReport {
    let mut options = RunOptions::default();
    options.workers = NonZeroUsize::MIN;
    options.case_timeout = limit;
    options.filter = Some(filter.parse().unwrap());
    let mut steps = ControlOptions::new(format!("http://{control}"));
    steps.token = Some("t0ken".to_owned());
    let server = ChannelServer::new(HttpOptions::new(&front.url), Some(&steps)).unwrap();
    let server = server.mcp("/mcp/live").browser(Some(browser.to_owned()));
    let protocol = &Corpus::embedded_protocol("ggui").unwrap();
    run(protocol, &server, &options, &mut Reporters::default()).unwrap()
}

/// Sessions that no step places are those of the kit, and the front has another port.
const SETTINGS: &[(&str, &str)] =
    &[("live.default_project", "conformance"), ("allowed_hosts", "127.0.0.1")];

/// Longer than a page needs; a case that a fault breaks takes as long.
const SHORT: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_secs(120);

/// The Chromium of this machine; none, with a message, where there is none. With CI set there must
/// be one.
fn program() -> Option<PathBuf> {
    match accord_kit::browser::find(None) {
        Ok(program) => Some(program),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            // Not by a macro: the output of a test that passes would be hidden.
            let _ = writeln!(io::stderr(), "SKIPPED: {error}");
            None
        }
    }
}

/// What stands before a server: every connection has one request, and a file may be changed.
struct Front {
    address: SocketAddr,
    url: String,
    state: Arc<State>,
    listener: Option<JoinHandle<()>>,
}

struct State {
    server: SocketAddr,
    fault: Option<&'static Fault>,
    is_used: AtomicBool,
    is_ended: AtomicBool,
}

impl Front {
    fn start(server: SocketAddr, fault: Option<&'static Fault>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_used, is_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let state = Arc::new(State { server, fault, is_used, is_ended });
        let shared = Arc::clone(&state);
        let listener = thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A connection that breaks off is its client's to notice.
                thread::spawn(move || drop(pass(stream, &shared)));
            }
        });
        Self { address, url: format!("http://{address}"), state, listener: Some(listener) }
    }

    /// Whether a file was changed.
    fn was_used(&self) -> bool {
        self.state.is_used.load(Ordering::SeqCst)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.state.is_ended.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            listener.join().unwrap();
        }
    }
}

fn pass(mut client: TcpStream, state: &State) -> io::Result<()> {
    let mut asked = Vec::new();
    let end = loop {
        let mut buffer = [0; 4096];
        let count = client.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        asked.extend_from_slice(&buffer[..count]);
        if let Some(end) = asked.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 2;
        }
    };
    let head = String::from_utf8_lossy(&asked[..end]).into_owned();
    let mut server = TcpStream::connect(state.server)?;
    if head.to_ascii_lowercase().contains("\nupgrade: websocket") {
        server.write_all(&asked)?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        io::copy(&mut server, &mut client)?;
        return client.shutdown(Shutdown::Both);
    }
    // One request per connection, so that each is looked at.
    let kept = head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let head: String = kept.map(|line| format!("{line}\r\n")).collect();
    server.write_all(format!("{head}Connection: close\r\n").as_bytes())?;
    server.write_all(&asked[end..])?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || io::copy(&mut from, &mut to));
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let path = head.split(' ').nth(1).unwrap_or_default();
    client.write_all(&state.changed(path, answer))?;
    client.shutdown(Shutdown::Both)
}

impl State {
    /// An answer, with the edits of the fault if it is the file of the fault.
    fn changed(&self, path: &str, answer: Vec<u8>) -> Vec<u8> {
        let is_file = |fault: &&Fault| match fault.file {
            "/live/" => path.starts_with("/live/"),
            name => path.starts_with("/assets/") && path.ends_with(name),
        };
        let Some(fault) = self.fault.filter(is_file) else { return answer };
        let mut text = String::from_utf8(answer).expect("files of pages are text");
        for (old, new) in fault.edits {
            assert_eq!(text.matches(old).count(), 1, "{}: {old:?} in {path}", fault.name);
            text = text.replace(old, new);
        }
        self.is_used.store(true, Ordering::SeqCst);
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
        let is_length = |line: &&str| line.to_ascii_lowercase().starts_with("content-length:");
        let kept = head.lines().filter(|line| !is_length(line));
        let head: String = kept.map(|line| format!("{line}\r\n")).collect();
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }
}
