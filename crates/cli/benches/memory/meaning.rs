//! Search by meaning: how fast vectors are made, and how fast the nearest are found.
//!
//! The embeddings server costs as little as possible: it answers with ready-made vectors. The floor
//! of making them is a client that sends as many texts and ignores the answers; that of a search is
//! a pass over the same number of values in memory, in one thread.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use accord_store::testing::Random;

use crate::connection::Connection;
use crate::packages::deposit;
use crate::read::fill;
use crate::server::Server;
use crate::{Gates, PACKAGES, micros, p50, target};

const COUNT: usize = 100_000;
const DIMENSION: usize = 384;

/// How many texts a request has, which is the default of the setting.
const BATCH: usize = 16;

/// How long the vectors may take before the benchmark gives up.
const MOST: Duration = Duration::from_secs(600);

/// How many different vectors there are.
const VECTORS: u64 = 2_000;

pub(crate) fn run(gates: &mut Gates) {
    println!("\nmeaning: {COUNT} packages, vectors of {DIMENSION} values");
    let folder = tempfile::tempdir().expect("a folder");
    let address = embeddings_server();
    let settings = format!("[embeddings]\nurl = \"http://{address}/v1\"\nmodel = \"random\"\n");
    fill(folder.path(), COUNT);
    let before = std::fs::metadata(folder.path().join("accord.db")).expect("a store").len();
    std::fs::write(folder.path().join("accord.toml"), settings).expect("a file");

    let server = Server::start(folder.path());
    let mut client = Connection::open(server.address).expect("a server");
    let mut asked = |path: &str| {
        let (status, body) = client.get(path).expect("an answer");
        let body = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(status, 200, "{body}");
        body
    };
    let began = Instant::now();
    while !asked("/metrics").contains(&format!("accord_embeddings_made_total {COUNT}\n")) {
        assert!(began.elapsed() < MOST, "the vectors are not made after {MOST:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let rate = COUNT as f64 / began.elapsed().as_secs_f64();
    let bare = requests(address);
    println!("    requests alone {bare:>20.0} packages/s (floor)");
    // The floor neither reads packages, nor parses vectors, nor commits them.
    println!("    vectors made {rate:>22.0} packages/s, {:.2} of the floor", rate / bare);
    let after = std::fs::metadata(folder.path().join("accord.db")).expect("a store").len();
    let grown = (after - before) as f64 / (1 << 20) as f64;
    let passages = (grown * (1 << 20) as f64 / (4 * DIMENSION) as f64).round();
    println!("    the store grew by {grown:>17.0} MB, about {passages:.0} vectors");

    let idle = server.megabytes();
    let search = |way: &str| format!("{PACKAGES}?mode=relevant&query=zebra+walrus&search={way}");
    let began = Instant::now();
    asked(&search("semantic"));
    println!("    first search {:>22.0} ms", began.elapsed().as_secs_f64() * 1000.0);
    println!("    memory for it {:>21.0} MB", server.megabytes() - idle);
    let semantic = p50(50, |_| drop(asked(&search("semantic"))));
    let hybrid = p50(50, |_| drop(asked(&search("hybrid"))));
    let keyword = p50(50, |_| drop(asked(&search("keyword"))));
    let floor = floor(passages as usize * DIMENSION);
    println!("    a pass over as many floats {:>8.1} ms (floor)", micros(floor) / 1000.0);
    println!("    search by words {:>19.1} ms", micros(keyword) / 1000.0);
    target("search by meaning", micros(semantic) / 1000.0, "ms", "under 50");
    target("search by both", micros(hybrid) / 1000.0, "ms", "under 75");
    gates.at_most("meaning against the floor", micros(semantic) / micros(floor), 2.0);
}

/// For how many packages of one passage a client gets vectors in a second if it ignores them.
fn requests(address: SocketAddr) -> f64 {
    let mut client = Connection::open(address).expect("a server");
    let texts: Vec<String> =
        (0..BATCH).map(|number| deposit(number, BATCH).row.state.text).collect();
    let body = serde_json::json!({"model": "random", "input": texts}).to_string();
    let took = p50(500, |_| drop(client.post("/v1/embeddings", &body).expect("an answer")));
    BATCH as f64 / took.as_secs_f64()
}

/// How long it takes to multiply and add so many floats.
fn floor(values: usize) -> Duration {
    let values: Vec<f32> = (0..values).map(|value| (value % 17) as f32).collect();
    let query: Vec<f32> = (0..DIMENSION).map(|value| (value % 13) as f32).collect();
    let mut best = 0.0_f32;
    let took = p50(9, |_| {
        for vector in values.chunks_exact(DIMENSION) {
            let mut sums = [0.0_f32; 8];
            for (one, other) in vector.as_chunks::<8>().0.iter().zip(query.as_chunks::<8>().0) {
                for (sum, (one, other)) in sums.iter_mut().zip(one.iter().zip(other)) {
                    *sum += one * other;
                }
            }
            best = best.max(sums.iter().sum());
        }
    });
    assert!(best > 0.0);
    took
}

/// A server that answers every text with one of some random vectors.
fn embeddings_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let vectors: Vec<String> = (0..VECTORS)
        .map(|seed| {
            let mut random = Random::new(seed);
            let values = (0..DIMENSION).map(|_| random.below(2_000) as f32 / 1_000.0 - 1.0);
            let values: Vec<String> = values.map(|value| format!("{value:.5}")).collect();
            format!("[{}]", values.join(","))
        })
        .collect();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, vectors) = (stream.expect("a connection"), vectors.clone());
            // A connection ends when the server goes.
            std::thread::spawn(move || drop(serve(&stream, &vectors)));
        }
    });
    address
}

fn serve(mut stream: &TcpStream, vectors: &[String]) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut next = 0;
    loop {
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line)? > 2 {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body: serde_json::Value = serde_json::from_slice(&body)?;
        let texts = body["input"].as_array().map_or(0, Vec::len);
        let mut answer = String::from("{\"data\":[");
        for index in 0..texts {
            let separator = if index > 0 { "," } else { "" };
            let vector = &vectors[next % vectors.len()];
            let _ = write!(answer, "{separator}{{\"index\":{index},\"embedding\":{vector}}}");
            next += 1;
        }
        answer.push_str("]}");
        // One write: a second small one would wait for the client to acknowledge the first.
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
        answer.insert_str(0, &head);
        stream.write_all(answer.as_bytes())?;
    }
}
