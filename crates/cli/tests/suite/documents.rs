//! One document in, one answer out.

use crate::accord::accord;
use crate::snapshot;

const BLOCK: &str = r#"{"type":"practice","domain":"software.testing","sources":["0xb","0xa"],
"payload":{"type":"practice","rationale":"Test what can fail.","contexts":[],"failureModes":[]},
"note":null}"#;

#[test]
fn canonical_bytes_come_out_as_they_are() {
    let canonical = accord(&["canon", "--profile", "jcs"], " {\"b\": 1.0, \"a\": [true]}\n").yes();
    assert_eq!(canonical, r#"{"a":[true],"b":1}"#);
    let dropped = accord(&["canon", "--profile", "agentic", "-"], r#"{"a":null}"#).yes();
    assert_eq!(dropped, "{}");
}

#[test]
fn digests_are_those_of_the_canonical_bytes_under_their_tag() {
    let digest =
        |args: &[&str]| accord(&[&["canon", "--profile", "alx"], args].concat(), "{ }").yes();
    assert_eq!(
        digest(&["--hash", "sha256"]),
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n"
    );
    assert_eq!(
        digest(&["--hash", "keccak256", "--tag", "KB_V1"]),
        "0x158f4b1c44b846a6740144fe67799473b84bb1a1781e34f73d86986d77e14627\n"
    );
    let alone = accord(&["canon", "--profile", "alx", "--tag", "KB_V1"], "{}");
    assert_eq!(alone.code, 2, "a tag without a hash does nothing");
}

#[test]
fn rounding_is_a_choice() {
    let args = ["canon", "--profile", "alx", "--numbers", "round"];
    assert_eq!(accord(&args, "9007199254740993").yes(), "9007199254740992");
    accord(&args[..3], "9007199254740993").refused("CANON_INEXACT_INTEGER");
}

#[test]
fn every_refusal_has_its_code_and_its_place() {
    for (input, code, place) in [
        (r#"{"a":[{"b":1,"b":2}]}"#, "CANON_DUPLICATE_KEY", "/a/0/b"),
        (r#"["\ud800"]"#, "CANON_LONE_SURROGATE", "/0"),
        (r#"{"a":null}"#, "CANON_NULL_FORBIDDEN", "/a"),
        ("[1e999]", "CANON_NON_FINITE", "/0"),
        ("[9007199254740993]", "CANON_INEXACT_INTEGER", "/0"),
        ("[1,]", "CANON_INVALID_JSON", "/1"),
    ] {
        let said = accord(&["canon", "--profile", "alx"], input).refused(code);
        assert!(said.contains(&format!("(at {place})")), "{said}");
        assert!(said.contains("[input:1:"), "the place in the text: {said}");
    }
}

#[test]
fn a_block_has_its_hash_and_its_content_id() {
    let hash = accord(&["kb", "hash"], BLOCK).yes();
    assert_eq!(hash.trim().len(), 66);
    let cid = accord(&["kb", "cid"], BLOCK).yes();
    assert!(cid.starts_with("bafkrei"), "{cid}");
    let json = accord(&["kb", "hash", "--json"], BLOCK).yes();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["kbHash"], hash.trim());
}

#[test]
fn an_explanation_shows_every_step() {
    let explained = accord(&["kb", "explain"], BLOCK).yes();
    let hash = accord(&["kb", "hash"], BLOCK).yes();
    for part in [
        r#"["0xb","0xa"]"#,
        r#"["0xa","0xb"]"#,
        "(absent)",
        "(not hashed)",
        r#"KB_V1{"domain":"software.testing","payload""#,
        hash.trim(),
    ] {
        assert!(explained.contains(part), "{part} is missing in\n{explained}");
    }
}

#[test]
fn verification_answers_yes_no_or_not_at_all() {
    let hash = accord(&["kb", "hash"], BLOCK).yes();
    accord(&["kb", "verify", "--expect", hash.trim()], BLOCK).yes();
    let no = accord(&["kb", "verify", "--expect", &format!("0x{}", "0a".repeat(32))], BLOCK);
    assert_eq!(no.code, 1);
    assert!(no.stdout.starts_with("mismatch"), "{}", no.stdout);
    snapshot::check("verification_answers_yes_no_or_not_at_all", &no.stdout);
    accord(&["kb", "verify"], BLOCK).refused("INVALID_ENVELOPE");
    let upper = hash.trim().to_uppercase();
    assert_eq!(accord(&["kb", "verify", "--expect", &upper], BLOCK).code, 2);
}

#[test]
fn sources_named_twice_need_a_mode() {
    let twice = r#"{"sources":["0xa","0xa"]}"#;
    let once = r#"{"sources":["0xa"]}"#;
    accord(&["kb", "hash"], twice).refused("KB_DUPLICATE_SOURCE");
    let dedup = accord(&["kb", "hash", "--sources", "dedup"], twice).yes();
    assert_eq!(dedup, accord(&["kb", "hash"], once).yes());
    let as_is = accord(&["kb", "hash", "--sources", "as-is"], twice).yes();
    assert_ne!(as_is, dedup);
}

#[test]
fn codes_are_listed_and_explained() {
    let list = accord(&["codes"], "").yes();
    assert!(list.lines().count() > 30, "{list}");
    let page = accord(&["codes", "RATE_LIMITED"], "").yes();
    snapshot::check("codes_are_listed_and_explained", &page);
    let json = accord(&["codes", "--json"], "").yes();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(list.lines().count()));
    accord(&["codes", "NO_SUCH_CODE"], "").refused("USAGE");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = accord(&["completions", shell], "").yes();
        assert!(script.contains("explain"), "{shell}");
    }
}
