//! The house keeps its shape: arrows run one way, and pure crates are pure.
//!
//! `clippy.toml` forbids clocks, files, settings, sockets, processes and
//! randomness by name, everywhere; the crates named here may opt out. Pure
//! crates may not, and may depend on nothing that could do it for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::accord::run;

/// Which of our crates each of our crates may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("accord-canon", &[]),
    ("accord-contract", &["accord-canon"]),
    ("accord-base", &["accord-canon", "accord-contract"]),
    ("accord-api", &["accord-base", "accord-canon", "accord-contract"]),
    ("accord-knowledge-core", &["accord-canon", "accord-contract"]),
    ("accord-memory-core", &["accord-api", "accord-base", "accord-canon", "accord-contract"]),
    ("accord-runs-core", &["accord-base", "accord-canon", "accord-contract"]),
    ("accord-live-core", &["accord-base", "accord-canon", "accord-contract"]),
    ("accord-tasks-core", &["accord-api", "accord-base", "accord-canon", "accord-contract"]),
    (
        "accord-tasks",
        &[
            "accord-base",
            "accord-canon",
            "accord-client",
            "accord-contract",
            "accord-process",
            "accord-system",
            "accord-tasks-core",
            "accord-trees",
        ],
    ),
    (
        "accord-store",
        &[
            "accord-base",
            "accord-canon",
            "accord-contract",
            "accord-live-core",
            "accord-memory-core",
            "accord-system",
        ],
    ),
    (
        "accord-store-sqlite",
        &[
            "accord-base",
            "accord-canon",
            "accord-contract",
            "accord-live-core",
            "accord-memory-core",
            "accord-store",
            "accord-system",
        ],
    ),
    ("accord-pages", &["accord-canon", "accord-contract"]),
    (
        "accord-live",
        &["accord-base", "accord-contract", "accord-live-core", "accord-store", "accord-system"],
    ),
    (
        "accord-memory",
        &[
            "accord-base",
            "accord-canon",
            "accord-client",
            "accord-contract",
            "accord-memory-core",
            "accord-store",
            "accord-system",
        ],
    ),
    (
        "accord-host",
        &[
            "accord-api",
            "accord-base",
            "accord-memory",
            "accord-canon",
            "accord-contract",
            "accord-live",
            "accord-live-core",
            "accord-memory-core",
            "accord-pages",
            "accord-store",
            "accord-store-sqlite",
            "accord-system",
            "accord-client",
            "accord-process",
            "accord-tasks",
            "accord-tasks-core",
            "accord-trees",
        ],
    ),
    ("accord-system", &["accord-canon", "accord-contract"]),
    ("accord-client", &[]),
    ("accord-process", &[]),
    ("accord-trees", &["accord-canon", "accord-contract", "accord-process", "accord-system"]),
    (
        "accord-runs",
        &[
            "accord-base",
            "accord-canon",
            "accord-contract",
            "accord-runs-core",
            "accord-process",
            "accord-trees",
            "accord-system",
            "accord-client",
        ],
    ),
    ("accord-kit", &["accord-canon", "accord-contract", "accord-process", "accord-system"]),
    (
        "accord-adapters",
        &[
            "accord-base",
            "accord-canon",
            "accord-contract",
            "accord-live-core",
            "accord-runs-core",
            "accord-knowledge-core",
            "accord-process",
            "accord-runs",
            "accord-tasks-core",
            "accord-tasks",
            "accord-trees",
            "accord-system",
        ],
    ),
    (
        "accord-cli",
        &[
            "accord-api",
            "accord-base",
            "accord-memory",
            "accord-adapters",
            "accord-canon",
            "accord-memory-core",
            "accord-contract",
            "accord-runs-core",
            "accord-host",
            "accord-kit",
            "accord-knowledge-core",
            "accord-live",
            "accord-live-core",
            "accord-process",
            "accord-runs",
            "accord-system",
            "accord-tasks",
            "accord-tasks-core",
        ],
    ),
];

/// The crates that decide, given state, input and time.
const PURE: &[&str] = &[
    "accord-api",
    "accord-base",
    "accord-canon",
    "accord-memory-core",
    "accord-contract",
    "accord-runs-core",
    "accord-tasks-core",
    "accord-live-core",
    "accord-knowledge-core",
    "accord-pages",
];

/// Everything that pure crates may pull in, however indirectly. None of it
/// reads a clock, a file, a setting or a socket; hash maps draw their own seeds,
/// and no order that could be seen comes from one.
const PURE_MAY_USE: &[&str] = &[
    "accord-api",
    "accord-base",
    "accord-canon",
    "accord-memory-core",
    "accord-contract",
    "accord-knowledge-core",
    "aho-corasick",
    "allocator-api2",
    "arraydeque",
    // Templates that the compiler turns into code; it reads their files then, and never later.
    "askama",
    "askama_macros",
    "bitflags",
    "block-buffer",
    "cfg-if",
    "const-oid",
    "cpubits",
    "cpufeatures",
    "crypto-common",
    "data-encoding",
    "digest",
    "equivalent",
    "foldhash",
    "granit-parser",
    "hashbrown",
    "hybrid-array",
    "indexmap",
    "itoa",
    "jiff",
    "jiff-core",
    // Patterns of JSON Schema, in the syntax that `regex` runs in linear time.
    "jsonschema-regex",
    "keccak",
    "libc",
    "memchr",
    "percent-encoding",
    "proc-macro2",
    // Markdown as events.
    "pulldown-cmark",
    "quote",
    "regex",
    "regex-automata",
    "regex-syntax",
    "ryu-js",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "sha2",
    "sha3",
    "smallvec",
    "sponge-cursor",
    "strsim",
    "subtle",
    "thiserror",
    "tinyvec",
    "tinyvec_macros",
    "typenum",
    "unicase",
    "unicode-normalization",
    "zmij",
];

/// The crates that may touch the world.
const MAY_OPT_OUT: &[&str] = &[
    "memory",
    "system",
    "client",
    "process",
    "store",
    "store-sqlite",
    "trees",
    "runs",
    "tasks",
    "host",
    "kit",
    "cli",
];

#[test]
fn arrows_run_one_way() {
    let graph = Graph::read();
    let ours: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(graph.members, ours.iter().map(|name| (*name).to_owned()).collect());
    for (name, may_use) in ARROWS {
        for dependency in &graph.direct[*name] {
            assert!(
                !ours.contains(dependency.as_str()) || may_use.contains(&dependency.as_str()),
                "{name} may not use {dependency}"
            );
        }
    }
}

#[test]
fn pure_crates_use_only_what_is_pure() {
    for name in PURE {
        let reachable = reachable(name);
        let unknown: Vec<_> = reachable
            .iter()
            .filter(|dependency| !PURE_MAY_USE.contains(&dependency.as_str()))
            .collect();
        assert!(unknown.is_empty(), "{name} pulls in {unknown:?}, not known to be pure");
    }
}

#[test]
fn only_crates_that_touch_the_world_opt_out() {
    for entry in std::fs::read_dir(workspace().join("crates")).expect("the crates") {
        let folder = entry.expect("an entry").path();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let opts_out = sources(&folder.join("src"))
            .iter()
            .any(|(_, source)| source.contains("clippy::disallowed_"));
        assert!(
            !opts_out || MAY_OPT_OUT.contains(&name.as_str()),
            "crates/{name} opts out of being pure"
        );
    }
}

#[test]
fn only_the_system_crate_reads_the_wall_clock_and_random_bytes() {
    for entry in std::fs::read_dir(workspace().join("crates")).expect("the crates") {
        let folder = entry.expect("an entry").path();
        if folder.ends_with("system") {
            continue;
        }
        for (_, source) in sources(&folder.join("src")) {
            for read in ["SystemTime::now", "getrandom::"] {
                assert!(
                    !source.contains(read),
                    "{read} in {}; use accord-system",
                    folder.display()
                );
            }
        }
    }
}

#[test]
fn one_module_names_the_engine() {
    let crates = workspace().join("crates");
    let mut naming = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("the crates") {
        let folder = entry.expect("an entry").path();
        if folder.ends_with("store-sqlite") {
            continue;
        }
        let sources = sources(&folder.join("src")).into_iter();
        naming.extend(sources.filter(|(_, source)| source.contains("accord_store_sqlite")));
    }
    let naming: Vec<PathBuf> = naming.into_iter().map(|(path, _)| path).collect();
    assert_eq!(naming, [crates.join("host/src/engine.rs")], "use accord_store::Engine");
}

/// `test = false` spares a second build of the library, and would hide a test in it.
#[test]
fn libraries_that_are_not_tested_have_no_tests() {
    let metadata = cargo(&["metadata", "--format-version=1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let targets = packages.flat_map(|package| package["targets"].as_array().expect("targets"));
    let untested: Vec<&Value> = targets
        .filter(|target| target["kind"] == json!(["lib"]) && target["test"] == false)
        .collect();
    assert!(!untested.is_empty());
    for library in untested {
        let root = PathBuf::from(text(&library["src_path"]));
        for (path, source) in sources(root.parent().expect("a folder")) {
            let is_tested = source.contains("cfg(test)") || source.contains("#[test]");
            assert!(!is_tested, "{} has tests, which do not run", path.display());
        }
    }
}

/// rustfmt wraps neither comments nor texts nor most macros.
#[test]
fn lines_have_at_most_100_columns() {
    let mut long = Vec::new();
    for (path, source) in sources(&workspace().join("crates")) {
        for (number, line) in (1..).zip(source.lines()) {
            if line.chars().count() > 100 {
                long.push(format!("{}:{number}", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "more than 100 columns:\n{}", long.join("\n"));
}

/// Who depends on whom in a build for users: no tests, no build scripts.
struct Graph {
    members: BTreeSet<String>,
    direct: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn read() -> Self {
        // What other systems need was never downloaded here.
        let host = host();
        let output =
            cargo(&["metadata", "--format-version", "1", "--offline", "--filter-platform", &host]);
        let metadata: Value = serde_json::from_str(&output).expect("JSON");
        let names: BTreeMap<&str, &str> = metadata["packages"]
            .as_array()
            .expect("packages")
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let members = metadata["workspace_members"].as_array().expect("members");
        let nodes = metadata["resolve"]["nodes"].as_array().expect("nodes");
        Self {
            members: members.iter().map(|id| names[text(id)].to_owned()).collect(),
            direct: nodes
                .iter()
                .map(|node| (names[text(&node["id"])].to_owned(), dependencies(node, &names)))
                .collect(),
        }
    }
}

/// Everything that a build of one crate uses, as `cargo tree` resolves it: `cargo metadata` also
/// lists optional dependencies that no feature enables. Procedural macros do not count, because
/// they run in the compiler.
fn reachable(name: &str) -> BTreeSet<String> {
    let edges = "normal,no-proc-macro";
    let tree = cargo(&["tree", "--offline", "-p", name, "-e", edges, "--prefix", "none"]);
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names.filter(|found| !found.is_empty() && *found != name).map(str::to_owned).collect()
}

/// The normal dependencies of a node. Procedural macros run in the compiler, so
/// what they use does not count.
fn dependencies(node: &Value, names: &BTreeMap<&str, &str>) -> BTreeSet<String> {
    let dependencies = node["deps"].as_array().expect("dependencies");
    dependencies
        .iter()
        .filter(|dependency| {
            let kinds = dependency["dep_kinds"].as_array().expect("kinds");
            kinds.iter().any(|kind| kind["kind"].is_null())
        })
        .map(|dependency| names[text(&dependency["pkg"])].to_owned())
        .filter(|name| !name.ends_with("_derive") && !name.ends_with("-impl"))
        .collect()
}

/// The name of the system that runs this.
fn host() -> String {
    let version = cargo(&["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("cargo names its host").to_owned()
}

fn cargo(args: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(args).current_dir(workspace());
    let ran = run(cargo, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout
}

/// The Rust files below a folder, with their texts.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            files.push((path, text));
        }
    }
    files
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}
