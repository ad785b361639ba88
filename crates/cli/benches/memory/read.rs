//! Reading over HTTP: does it cost the same, however much there is?

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::PACKAGES;
use crate::connection::Connection;
use crate::packages::{deposit, fact};
use crate::server::Server;
use crate::{Gates, micros, p50, target};

const TIMES: usize = 300;
const FACTS: usize = 100;

/// How many packages one import brings in.
const LINES: usize = 100_000;

/// A window that every package lies in.
const ORIENT: &str = "/v1/projects/proj_benchmark/orient?window_days=3660";

struct Times {
    specific: Duration,
    latest: Duration,
    orient: Duration,
}

pub(crate) fn run(gates: &mut Gates, million: bool) {
    println!("\nread: every package lies in the window");
    let small = measured(1_000);
    let middle = measured(10_000);
    let large = if million { 1_000_000 } else { 100_000 };
    let most = measured(large);
    println!("  at {large} packages");
    let ratio = |ours: Duration, floor: Duration| micros(ours) / micros(floor);
    gates.at_most("specific against 1,000", ratio(most.specific, small.specific), 2.0);
    gates.at_most("latest against 1,000", ratio(most.latest, small.latest), 2.0);
    gates.at_most("orient against 10,000", ratio(most.orient, middle.orient), 2.0);
    gates.at_most("orient against one specific", ratio(most.orient, most.specific), 20.0);
}

fn measured(count: usize) -> Times {
    let folder = tempfile::tempdir().expect("a folder");
    println!("  {count:>9} packages");
    fill(folder.path(), count);
    let server = Server::start(folder.path());
    target("  ready", server.ready.as_secs_f64() * 1000.0, "ms", "under 1000");
    let mut client = Connection::open(server.address).expect("a server");
    let paths: Vec<String> = (0..TIMES)
        .map(|time| deposit(time * 7919 % count, count).row.package_id)
        .map(|id| format!("/v1/packages/{id}"))
        .collect();
    let mut asked = |path: &str| {
        let (status, body) = client.get(path).expect("an answer");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    };
    let specific = p50(TIMES * 4, |time| asked(&paths[time % TIMES]));
    let latest = p50(TIMES, |_| asked(PACKAGES));
    let orient = p50(TIMES, |_| asked(ORIENT));
    println!("    specific {:>26.0} us", micros(specific));
    println!("    latest 5 {:>26.0} us", micros(latest));
    println!("    orient {:>28.0} us", micros(orient));
    if count == LINES {
        let query = format!("{PACKAGES}?mode=relevant&query=zebra+walrus");
        let search = p50(50, |_| asked(&query));
        target("search, two words in 5 % each", micros(search) / 1000.0, "ms", "under 25");
    }
    Times { specific, latest, orient }
}

/// Brings packages in, as an import does.
pub(crate) fn fill(data: &Path, count: usize) {
    let server = Server::start(data);
    let mut client = Connection::open(server.address).expect("a server");
    let mut took = Duration::ZERO;
    for first in (0..count).step_by(LINES) {
        let mut lines = String::new();
        for number in first..count.min(first + LINES) {
            let _ = writeln!(lines, "{}", deposit(number, count).row.state.text);
        }
        for number in 0..if first == 0 { FACTS } else { 0 } {
            let fact = fact(number);
            let _ = writeln!(
                lines,
                "{{\"fact_id\":\"{}\",\"project_id\":\"proj_benchmark\",\"subject\":\"{}\",\
                 \"predicate\":\"{}\",\"value\":\"{}\",\
                 \"valid_from\":\"{}\",\"created_at\":\"{}\"}}",
                fact.fact_id,
                fact.subject,
                fact.predicate,
                fact.value,
                fact.valid_from,
                fact.created_at
            );
        }
        let began = Instant::now();
        let path = "/v1/projects/proj_benchmark/import";
        let (status, body) =
            client.send("POST", path, "application/x-ndjson", lines.as_bytes()).expect("an answer");
        took += began.elapsed();
        let body = String::from_utf8_lossy(&body);
        assert_eq!(status, 200, "{body}");
        assert!(body.contains(r#""refused_count":0"#), "{body}");
    }
    if count >= LINES {
        let each = took.as_secs_f64() * LINES as f64 / count as f64;
        target("import of 100,000", each, "s", "under 30");
    }
}
