//! The house keeps its shape: arrows run one way, and pure crates are pure.
//!
//! The table of crates in `ARCHITECTURE.md` says which crates are pure and what each one uses.
//!
//! `clippy.toml` forbids clocks, files, settings, sockets, processes and
//! randomness by name, everywhere; the crates named here may opt out. Pure
//! crates may not, and may depend on nothing that could do it for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::accord::run;

/// What else pure crates may pull in, however indirectly. None of it
/// reads a clock, a file, a setting or a socket; hash maps draw their own seeds,
/// and no order that could be seen comes from one.
const PURE_MAY_USE: &[&str] = &[
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
    "jsonc-parser",
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
    "serde_spanned",
    "shell-words",
    // Differences between texts.
    "similar",
    "smallvec",
    "sponge-cursor",
    "strsim",
    "subtle",
    "thiserror",
    "tinyvec",
    "tinyvec_macros",
    "toml",
    "toml_datetime",
    "toml_parser",
    "toml_writer",
    "typenum",
    "unicase",
    "unicode-normalization",
    "winnow",
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
    "serving",
    "mcp",
    "tasks-door",
    "edge",
    "host",
    "kit",
    "cli",
];

#[test]
fn the_table_of_crates_has_the_arrows_of_the_manifests() {
    let (graph, table) = (Graph::read(), table());
    let ours: BTreeSet<&String> = table.iter().map(|row| &row.name).collect();
    assert_eq!(ours, graph.members.iter().collect(), "the crates of the table and of Cargo.toml");
    let mut wrong = Vec::new();
    for Row { name, uses, .. } in &table {
        let used = graph.direct[name].iter().filter(|used| ours.contains(used));
        let used: BTreeSet<&String> = used.collect();
        let listed: BTreeSet<&String> = uses.iter().collect();
        let missing = used.difference(&listed);
        wrong.extend(missing.map(|used| format!("{name} uses {used}; the table does not say so")));
        let extra = listed.difference(&used);
        wrong.extend(extra.map(|used| format!("{name} does not use {used}; the table says so")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arrows_point_up_the_table() {
    let mut above = BTreeSet::new();
    for Row { name, uses, .. } in table() {
        let below: Vec<_> = uses.difference(&above).collect();
        assert!(below.is_empty(), "{name} uses {below:?}, which are not above it");
        above.insert(name);
    }
}

#[test]
fn protocols_do_not_know_each_other() {
    let table = table();
    let cores: Vec<&str> = table.iter().filter_map(|row| row.name.strip_suffix("-core")).collect();
    for row in &table {
        let word = row.name.strip_suffix("-core").unwrap_or(&row.name);
        if !cores.contains(&word) {
            continue;
        }
        for used in &row.uses {
            let other = used.strip_suffix("-core").unwrap_or(used);
            assert!(other == word || !cores.contains(&other), "{} uses {used}", row.name);
        }
    }
}

#[test]
fn pure_crates_use_only_what_is_pure() {
    let table = table();
    let pure: Vec<&str> =
        table.iter().filter(|row| row.is_pure).map(|row| row.name.as_str()).collect();
    assert!(pure.contains(&"accord-contract"), "{pure:?}");
    for name in &pure {
        let reachable = reachable(name);
        let is_pure = |used: &&str| pure.contains(used) || PURE_MAY_USE.contains(used);
        let unknown: Vec<&str> =
            reachable.iter().map(String::as_str).filter(|used| !is_pure(used)).collect();
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

/// The files of the command that name `serde_json::Value`: they print or build documents whose form
/// somebody else decides. Answers of a host are read as the types of their operations.
const NAME_VALUE: &[&str] = &[
    // Questions for the data of an action, as the schema of an agent describes it.
    "commands/live/questions.rs",
    // Events of coding agents.
    "commands/worker_output.rs",
    // What edges say about what waits there, which has no schema.
    "render/edge_item.rs",
    // Events of every protocol, also of kinds of later versions.
    "render/event.rs",
    // What agents and people sent in a live session.
    "render/live.rs",
];

#[test]
fn the_command_reads_answers_as_types() {
    let folder = workspace().join("crates/cli/src");
    let sources = sources(&folder).into_iter().filter(|(_, source)| names_json_value(source));
    let mut naming: Vec<PathBuf> = sources.map(|(path, _)| path).collect();
    naming.sort();
    let listed: Vec<PathBuf> = NAME_VALUE.iter().map(|file| folder.join(file)).collect();
    assert_eq!(naming, listed, "read a document as its message, not as a Value");
    assert!(listed.len() <= 6);
}

#[test]
fn a_json_value_is_distinguished_from_other_names() {
    for source in [
        "use serde_json::Value;",
        "use accord_contract::wire::{Object, Value, Wire as _};",
        "use serde_json::Value as Json;",
        "fn f(document: &serde_json::Value) {}",
        "let x: accord_contract::wire::Value = y;",
    ] {
        assert!(names_json_value(source), "{source}");
    }
    for source in [
        "Field::Value(id)",
        "fn f<D: Definition>() -> Option<D::Value> {}",
        "impl TypedValueParser<Value = N>",
        "clap::ValueEnum, Values",
    ] {
        assert!(!names_json_value(source), "{source}");
    }
}

/// Whether a source names the type, not a variant or an associated type of the same name.
fn names_json_value(source: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    source.match_indices("Value").any(|(start, name)| {
        let (before, after) = (&source[..start], &source[start + name.len()..]);
        let of_json = ["serde_json::", "wire::"].iter().any(|module| before.ends_with(module));
        let is_other = before.ends_with("::") || after.starts_with(" =");
        !before.ends_with(is_word) && !after.starts_with(is_word) && (of_json || !is_other)
    })
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

/// A row of the table of crates in `ARCHITECTURE.md`.
struct Row {
    name: String,
    is_pure: bool,
    uses: BTreeSet<String>,
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(workspace().join("ARCHITECTURE.md")).expect("the page");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `crates/"));
    let rows: Vec<Row> = rows.map(row).collect();
    assert!(!rows.is_empty(), "ARCHITECTURE.md has no table of crates");
    rows
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, _, pure, uses, ""] = cells[..] else { panic!("not a row of crates: {line}") };
    let name = name.strip_suffix('`').expect("a crate");
    let uses = uses.split(", ").filter(|used| !used.is_empty());
    Row {
        name: format!("accord-{name}"),
        is_pure: match pure {
            "yes" => true,
            "" => false,
            other => panic!("{name}: neither pure nor not: {other}"),
        },
        uses: uses.map(|used| format!("accord-{used}")).collect(),
    }
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
