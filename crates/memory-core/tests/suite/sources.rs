//! Notes and records of other tools.

use accord_base::{Actor, ActorType, ProjectId};
use accord_contract::{Code, Time};
use accord_memory_core::sources::{
    Action, KnownSource, Plan, SOURCE, SourceFile, SourceFormat, plan, read,
};
use accord_memory_core::{Package, PackageId};
use serde_json::{Value, json};

fn file(path: &str, text: &str) -> SourceFile {
    let modified = Time::parse_rfc3339("2026-05-01T10:00:00Z").unwrap();
    SourceFile { path: path.to_owned(), text: text.to_owned(), modified }
}

fn planned(format: SourceFormat, files: &[SourceFile], known: &[KnownSource]) -> Plan {
    let reading = read(format, files).unwrap();
    let author = Actor::new("import".parse().unwrap(), ActorType::Script);
    let project = ProjectId::new("shop").unwrap();
    let mut plan = plan(format, &project, &author, reading.entries, known).unwrap();
    plan.skipped = reading.skipped;
    plan
}

fn documents(plan: &Plan) -> Vec<Value> {
    let documents = plan.packages.iter().filter_map(|planned| planned.document.as_ref());
    documents.map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// What is known after a plan was carried out: the packages that no other supersedes.
fn known_after(format: SourceFormat, plan: &Plan, before: &[KnownSource]) -> Vec<KnownSource> {
    let gone: Vec<&PackageId> = plan.packages.iter().filter_map(|it| it.superseded()).collect();
    let old = before.iter().filter(|known| !gone.contains(&&known.package_id)).cloned();
    let new = plan.packages.iter().filter_map(|planned| planned.document.as_ref());
    let new = new.map(|text| {
        let package = Package::parse(text.as_bytes()).unwrap();
        KnownSource::of(package.fields(), format).unwrap()
    });
    new.chain(old).collect()
}

const NYGARD: &str = "# 2. Use SQLite\n\nDate: 2026-02-12\n\n## Status\n\nAccepted\n\nSupercedes \
    [1. Use files](0001-use-files.md)\n\n## Context\n\nWe need a store.\nIt is small.\n\n\
    ## Decision\n\nWe use SQLite, because it is one file.\n\n## Consequences\n\nBackups.\n";
const OLD: &str = "# 1. Use files\n\nDate: 2026-01-10\n\n## Status\n\nSuperceded by \
    [2. Use SQLite](0002-use-sqlite.md)\n\n## Decision\n\nFiles.\n";
const MADR: &str = "---\nstatus: \"proposed\"\ndate: 2026-03-01\ndecision-makers: [lead, planner]\n\
    ---\n# Use passkeys\n\n## Context and Problem Statement\n\nHow do people sign in?\n\n\
    ## Decision Outcome\n\nChosen option: \"passkeys\", because nothing is to be stolen.\n";
const MADR_2: &str = "# Reject XML\n\n* Status: rejected\n* Date: 2026-03-02\n\n\
    ## Decision Outcome\n\nNo reader needs it.\n";

#[test]
fn decision_records_become_decisions_and_questions() {
    let files = [
        file("docs/adr/0001-use-files.md", OLD),
        file("docs/adr/0002-use-sqlite.md", NYGARD),
        file("docs/adr/0003-passkeys.md", MADR),
        file("docs/adr/0004-xml.md", MADR_2),
        file("docs/adr/README.md", "# Decisions\n"),
        file("docs/adr/0005-later.md", "# Later\n\n* Status: [proposed | accepted]\n"),
    ];
    let plan = planned(SourceFormat::Adr, &files, &[]);
    let skipped: Vec<_> = plan.skipped.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(skipped, ["docs/adr/README.md", "docs/adr/0005-later.md"]);
    let [old, sqlite, passkeys, xml] = &documents(&plan)[..] else { panic!("{plan:?}") };
    assert_eq!(old["title"], "Use files");
    assert_eq!(old["package_type"], "standard");
    assert_eq!(old.get("decisions_made"), None);
    assert_eq!(sqlite["title"], "Use SQLite");
    assert_eq!(sqlite["package_type"], "decision");
    assert_eq!(sqlite["created_at"], "2026-02-12T00:00:00.000Z");
    assert_eq!(sqlite["description"], "We need a store. It is small.");
    let decision = "Use SQLite: We use SQLite, because it is one file.";
    assert_eq!(sqlite["decisions_made"], json!([decision]));
    // Both records say it, and it is linked once.
    assert_eq!(sqlite["x-supersedes"], json!([old["package_id"]]));
    let source = &sqlite[SOURCE];
    assert_eq!(source["format"], "adr");
    assert_eq!(source["path"], "docs/adr/0002-use-sqlite.md");
    assert!(source["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(passkeys["package_type"], "question");
    assert_eq!(passkeys["open_questions"], json!(["Proposed decision: Use passkeys?"]));
    assert_eq!(passkeys[SOURCE]["front_matter"]["decision-makers"], json!(["lead", "planner"]));
    let decision = "Rejected: Reject XML: No reader needs it.";
    assert_eq!(xml["decisions_made"], json!([decision]));
    assert_eq!(xml["created_at"], "2026-03-02T00:00:00.000Z");
}

#[test]
fn a_second_import_adds_nothing_and_a_change_supersedes() {
    let format = SourceFormat::Adr;
    let files = [file("adr/0003-passkeys.md", MADR), file("adr/0004-xml.md", MADR_2)];
    let first = planned(format, &files, &[]);
    // The ids follow from the source.
    let ids =
        |plan: &Plan| plan.packages.iter().map(|it| it.package_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&planned(format, &files, &[])), ids(&first));
    let known = known_after(format, &first, &[]);
    let second = planned(format, &files, &known);
    assert!(second.packages.iter().all(|it| it.action == Action::Unchanged), "{second:?}");
    assert_eq!(documents(&second), [] as [Value; 0]);

    let accepted = [file("adr/0003-passkeys.md", &MADR.replace("proposed", "accepted"))];
    let third = planned(format, &accepted, &known);
    assert_eq!(third.packages[0].action, Action::Supersede);
    assert_eq!(third.packages[0].superseded(), Some(&first.packages[0].package_id));
    let document = &documents(&third)[0];
    assert_eq!(document["x-supersedes"], json!([first.packages[0].package_id.as_str()]));
    // What was open is answered, so that no question of an old version stays.
    let question = "Proposed decision: Use passkeys?";
    assert_eq!(document["x-answers"], json!([{"question": question}]));
    // The text of before is a change, too, with an id of its own.
    let known = known_after(format, &third, &known);
    let fourth = planned(format, &files[..1], &known);
    assert_eq!(fourth.packages[0].action, Action::Supersede);
    assert_ne!(fourth.packages[0].package_id, first.packages[0].package_id);
}

#[test]
fn notes_have_what_their_front_matter_says() {
    let note = "---\ntitle: \"Deploys: how\"\ndate: 2026-04-02\ntags: [ops, \"on call\"]\n\
        type: handoff # for the next\nsummary: >\n  Who deploys,\n  and when.\nowner:\n  - lead\n\
        meta:\n  level: 2\n---\n# Other\n\nText.\n";
    let bare = "\u{feff}Intro\n\n```\n# no heading\n```\n\n# The heading\n";
    let files = [
        file("notes/deploys.md", note),
        file("notes/2026-03-04 bare.md", bare),
        file("notes/rule.md", "---\n\nA rule at the top.\n"),
        file("notes/empty.md", "\n"),
    ];
    let plan = planned(SourceFormat::Markdown, &files, &[]);
    assert_eq!(plan.skipped.len(), 1);
    let [deploys, bare, rule] = &documents(&plan)[..] else { panic!("{plan:?}") };
    assert_eq!(deploys["title"], "Deploys: how");
    assert_eq!(deploys["created_at"], "2026-04-02T00:00:00.000Z");
    assert_eq!(deploys["tags"], json!(["ops", "on call"]));
    assert_eq!(deploys["package_type"], "handoff");
    assert_eq!(deploys["description"], "Who deploys, and when.");
    assert_eq!(deploys["content_md"], "# Other\n\nText.");
    let rest = json!({"owner": ["lead"], "meta": {"level": "2"}});
    assert_eq!(deploys[SOURCE]["front_matter"], rest);
    assert_eq!(bare["title"], "The heading");
    assert_eq!(bare["created_at"], "2026-03-04T00:00:00.000Z");
    assert_eq!(rule["title"], "rule");
    assert_eq!(rule["created_at"], "2026-05-01T10:00:00.000Z");
}

#[test]
fn issues_keep_their_state_and_links() {
    let lines = [
        json!({"_type": "issue", "id": "bd-1", "title": "Login", "status": "closed",
            "priority": 1, "issue_type": "epic", "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-05T00:00:00.123456789Z", "close_reason": "Shipped"}),
        json!({"id": "bd-2", "title": "Rate limits", "description": "Too many tries.",
            "design": "A bucket.", "notes": "See the wiki.", "status": "open", "priority": 0,
            "issue_type": "bug", "labels": ["auth"], "created_at": "2026-01-02T03:00:00+02:00",
            "updated_at": "0001-01-01T00:00:00Z", "comment_count": 4,
            "dependencies": [
                {"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "parent-child"},
                {"issue_id": "bd-2", "depends_on_id": "bd-9", "type": "blocks"}],
            "comments": [
                {"author": "lead", "text": "Soon.", "created_at": "2026-01-03T00:00:00Z"}]}),
        json!({"_type": "memory", "key": "ci", "value": "CI needs Node 20."}),
        json!({"id": "bd-3", "title": "Gone", "status": "tombstone"}),
    ];
    let text = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let path = ".beads/issues.jsonl";
    let plan = planned(SourceFormat::Beads, &[file(path, &text(&lines))], &[]);
    assert_eq!(plan.skipped[0].line, 4);
    let [login, limits, ci] = &documents(&plan)[..] else { panic!("{plan:?}") };
    assert_eq!(login["package_type"], "milestone");
    assert_eq!(login["handoff_note"], "Shipped");
    assert_eq!(login.get("open_questions"), None);
    assert_eq!(login["created_at"], "2026-01-05T00:00:00.123456789Z");
    assert_eq!(limits["open_questions"], json!(["bd-2 is open: Rate limits"]));
    assert_eq!(limits["parent_package_id"], login["package_id"]);
    assert_eq!(limits["significance"], 9);
    assert_eq!(limits["tags"], json!(["auth", "bug"]));
    // A time that was never set does not count, and another zone is converted.
    assert_eq!(limits["created_at"], "2026-01-02T01:00:00.000Z");
    let body = limits["content_md"].as_str().unwrap();
    for part in ["## Design\n\nA bucket.", "See the wiki.", "- blocks: bd-9", "Soon."] {
        assert!(body.contains(part), "{body}");
    }
    assert_eq!(limits[SOURCE]["status"], "open");
    assert_eq!(limits[SOURCE]["dependencies"], json!(["parent-child: bd-1", "blocks: bd-9"]));
    assert_eq!(ci["title"], "ci");
    assert_eq!(ci["description"], "CI needs Node 20.");

    // A count of others is no change of the issue; its end is.
    let format = SourceFormat::Beads;
    let known = known_after(format, &plan, &[]);
    let mut changed = lines.clone();
    changed[1]["comment_count"] = 5.into();
    let again = planned(format, &[file(path, &text(&changed))], &known);
    assert!(again.packages.iter().all(|it| it.action == Action::Unchanged));
    changed[1]["status"] = "closed".into();
    let ended = planned(format, &[file(path, &text(&changed))], &known);
    let document = &documents(&ended)[0];
    assert_eq!(document["x-answers"], json!([{"question": "bd-2 is open: Rate limits"}]));
    assert_eq!(document["parent_package_id"], login["package_id"]);
    // A record that is gone is named, and its package stays.
    let fewer = planned(format, &[file(path, &text(&lines[..1]))], &known);
    let gone: Vec<String> = fewer.gone.iter().map(ToString::to_string).collect();
    assert_eq!(gone, [".beads/issues.jsonl#bd-2", ".beads/issues.jsonl#memory:ci"]);
}

#[test]
fn memories_of_mem0_are_packages() {
    let results = json!([
        {"id": "m1", "memory": "The person likes tea. No milk.", "hash": "0f", "user_id": "u7",
            "metadata": {"category": "food"}, "created_at": "2026-01-01T10:00:00.5-07:00",
            "updated_at": null},
        {"id": "m2", "memory": "Deploys on Friday", "agent_id": "ops", "created_at": "2026-02-01"},
    ]);
    let relations = json!([{"source": "u7", "relationship": "likes", "target": "tea"}]);
    let document = json!({"results": results, "relations": relations});
    let format = SourceFormat::Mem0;
    let plan = planned(format, &[file("mem0.json", &format!("{document:#}"))], &[]);
    assert!(plan.skipped[0].why.starts_with("1 relations"), "{:?}", plan.skipped);
    let [tea, deploys] = &documents(&plan)[..] else { panic!("{plan:?}") };
    assert_eq!(tea["title"], "The person likes tea");
    assert_eq!(tea["description"], "The person likes tea. No milk.");
    assert_eq!(tea["created_at"], "2026-01-01T17:00:00.500Z");
    assert_eq!(tea["tags"], json!(["food", "memory"]));
    assert_eq!(tea[SOURCE]["user_id"], "u7");
    assert_eq!(deploys[SOURCE]["agent_id"], "ops");
    // The platform returns a list, or pages with `results`.
    let list = planned(format, &[file("mem0.json", &results.to_string())], &[]);
    assert_eq!(list.packages[0].package_id, plan.packages[0].package_id);
}

#[test]
fn rules_are_packages_by_section_and_memory_files_whole() {
    let rules = "# Shop\n\nA shop.\n\n## Commands\n\n- `make test`\n\n```sh\n## no section\n```\n\n\
        ## Style\n\nShort.\n\n### Names\n\nPlain.\n\n## Style\n\nAgain.\n\n## Empty\n";
    let format = SourceFormat::Claude;
    let plan = planned(format, &[file("CLAUDE.md", rules)], &[]);
    let titles: Vec<_> = plan.packages.iter().map(|it| it.entry.title.as_str()).collect();
    let expected =
        ["Shop (CLAUDE.md)", "Commands (CLAUDE.md)", "Style (CLAUDE.md)", "Style (CLAUDE.md)"];
    assert_eq!(titles, expected);
    let lines: Vec<_> = plan.packages.iter().map(|it| it.entry.line).collect();
    assert_eq!(lines, [1, 5, 13, 21]);
    assert_eq!(documents(&plan)[2]["content_md"], "Short.\n\n### Names\n\nPlain.");
    assert_eq!(documents(&plan)[0]["significance"], 8);
    // One section that changes leaves the others as they are.
    let known = known_after(format, &plan, &[]);
    let changed = rules.replace("make test", "make check");
    let again = planned(format, &[file("CLAUDE.md", &changed)], &known);
    let actions: Vec<_> = again.packages.iter().map(|it| it.action).collect();
    use Action::{Supersede, Unchanged};
    assert_eq!(actions, [Unchanged, Supersede, Unchanged, Unchanged]);

    let memory = "---\nname: no-mocks\ndescription: Tests use the real store\ntype: feedback\n---\n\
        Mocks hid a bug.\n";
    let index = "- [No mocks](no-mocks.md): tests use the real store\n";
    let files = [file("memory/MEMORY.md", index), file("memory/no-mocks.md", memory)];
    let plan = planned(format, &files, &[]);
    assert_eq!(plan.skipped[0].path, "memory/MEMORY.md");
    let document = &documents(&plan)[0];
    assert_eq!(document["title"], "no-mocks");
    assert_eq!(document["description"], "Tests use the real store");
    assert_eq!(document["content_md"], "Mocks hid a bug.");
    assert_eq!(document[SOURCE]["front_matter"]["type"], "feedback");
}

#[test]
fn what_cannot_be_read_is_named_by_file_and_line() {
    let cases = [
        (SourceFormat::Markdown, "a.md", "---\ntitle: x\nno member\n---\n", 3),
        (SourceFormat::Markdown, "a.md", "---\ntitle: x\ntitle: y\n---\n", 3),
        (SourceFormat::Beads, "i.jsonl", "{\"id\":\"a\",\"title\":\"t\"}\n{\"id\":", 2),
        (SourceFormat::Beads, "i.jsonl", "{\"id\":\"a\"}\n", 1),
        (
            SourceFormat::Beads,
            "i.jsonl",
            "{\"id\":\"a\",\"title\":\"t\"}\n{\"id\":\"a\",\"title\":\"t\"}",
            2,
        ),
        (SourceFormat::Beads, "i.jsonl", "[1]\n", 1),
        (SourceFormat::Mem0, "m.json", "{\n\"results\": [\n{\"id\": \"a\"}]}", 3),
        (SourceFormat::Mem0, "m.json", "{\n\"results\": [}", 2),
        (SourceFormat::Mem0, "m.json", "{\"data\": []}", 1),
    ];
    for (format, path, text, line) in cases {
        let failure = read(format, &[file(path, text)]).unwrap_err();
        assert_eq!(failure.code, Code::InputUnreadable, "{text}");
        let begins = format!("{path} line {line}: ");
        assert!(failure.message.starts_with(&begins), "{text}: {}", failure.message);
        assert!(failure.message.ends_with("nothing is imported"), "{}", failure.message);
    }
    // Two records of one number would make a link ambiguous.
    let files = [file("adr/0001-a.md", OLD), file("adr/1-b.md", OLD)];
    assert!(read(SourceFormat::Adr, &files).unwrap_err().message.contains("number 1"));
    // Limits are checked before anything is sent.
    let long = file("a.md", &"x".repeat(3 << 20));
    let entries = read(SourceFormat::Markdown, &[long]).unwrap().entries;
    let author = Actor::new("import".parse().unwrap(), ActorType::Script);
    let project = ProjectId::new("shop").unwrap();
    let failure = plan(SourceFormat::Markdown, &project, &author, entries, &[]).unwrap_err();
    assert!(failure.message.starts_with("a.md line 1: content_md"), "{}", failure.message);
}
