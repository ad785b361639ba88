//! The block of instructions in Markdown.

use accord_contract::Code;
use accord_wiring::{Tool, block_body};

use crate::desk::{Desk, choices, forced};

#[test]
fn the_block_is_short_and_names_server_and_project() {
    let body = block_body(&choices(Tool::Claude));
    assert!(body.split_whitespace().count() <= 250, "{body}");
    assert!(body.contains("MCP server `accord`, project `shop`"), "{body}");
    assert!(!body.contains('@'), "{body}");
}

#[test]
fn the_block_goes_where_the_tool_reads_it_and_hides_no_file() {
    let imports = "@AGENTS.md\n";
    for (tool, files, target) in [
        (Tool::Claude, vec![], "AGENTS.md"),
        (Tool::Claude, vec![("AGENTS.md", "a")], "AGENTS.md"),
        (Tool::Claude, vec![("CLAUDE.md", "c")], "CLAUDE.md"),
        // Claude Code would not read AGENTS.md.
        (Tool::Claude, vec![("AGENTS.md", "a"), ("CLAUDE.md", "c")], "CLAUDE.md"),
        (Tool::Claude, vec![("AGENTS.md", "a"), ("CLAUDE.md", imports)], "AGENTS.md"),
        (Tool::Codex, vec![("AGENTS.md", "a"), ("CLAUDE.md", "c")], "AGENTS.md"),
        (Tool::Codex, vec![("CLAUDE.md", "c")], "CLAUDE.md"),
        (Tool::Opencode, vec![("CLAUDE.md", "c")], "CLAUDE.md"),
        (Tool::Gemini, vec![("AGENTS.md", "a")], "GEMINI.md"),
        (
            Tool::Gemini,
            vec![(".gemini/settings.json", "{\"context\": {\"fileName\": [\"AGENTS.md\"]}}")],
            "AGENTS.md",
        ),
    ] {
        let mut desk = Desk::with(&files);
        desk.wire(&choices(tool));
        assert!(desk.text(target).contains("accord:begin"), "{tool:?} {files:?}");
        let others = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"].into_iter();
        for other in others.filter(|other| *other != target) {
            let text = desk.files.get(other).map(|bytes| String::from_utf8_lossy(bytes));
            let expected = files.iter().find(|(path, _)| *path == other).map(|(_, text)| *text);
            assert_eq!(text.as_deref(), expected, "{tool:?} {other}");
        }
    }
    // CLAUDE.md as a link to AGENTS.md.
    let mut desk = Desk::with(&[("AGENTS.md", "a"), ("CLAUDE.md", "a")]);
    desk.links.insert("CLAUDE.md".to_owned(), Some("AGENTS.md".to_owned()));
    desk.wire(&choices(Tool::Claude));
    assert!(desk.text("AGENTS.md").contains("accord:begin"));
}

#[test]
fn markers_that_make_no_block_are_refused() {
    let (begin, end) = ("<!-- accord:begin v1 sha256=x -->\n", "<!-- accord:end -->\n");
    for (text, place) in [
        (format!("a\n{begin}b\n"), "line 2: a block of Accord begins and does not end"),
        (format!("{begin}{begin}{end}"), "line 2"),
        (format!("{begin}{end}{begin}{end}"), "line 3"),
        (format!("a\n\n{end}"), "line 3"),
    ] {
        let (code, message) = Desk::with(&[("AGENTS.md", &text)]).refusal(&choices(Tool::Codex));
        assert_eq!(code, Code::WiringMarkers, "{message}");
        assert!(message.contains(place), "{message}");
    }
}

#[test]
fn a_block_that_somebody_changed_is_kept_and_an_older_one_replaced() {
    for newline in ["\n", "\r\n"] {
        let mut desk = Desk::with(&[("AGENTS.md", &format!("# Shop{newline}"))]);
        desk.wire(&choices(Tool::Codex));
        let text = desk.text("AGENTS.md");
        assert!(text.starts_with(&format!("# Shop{newline}{newline}<!-- accord:begin")), "{text}");
        assert_eq!(text.matches('\n').count(), text.matches(newline).count());

        let changed = text.replace("Never store secrets", "Always store secrets");
        desk.put("AGENTS.md", &changed);
        let plan = desk.wire(&choices(Tool::Codex));
        assert_eq!(desk.text("AGENTS.md"), changed);
        assert!(plan.kept[0].contains("AGENTS.md"), "{plan:?}");
        let plan = desk.remove(&choices(Tool::Codex));
        assert_eq!(desk.text("AGENTS.md"), changed);
        assert!(plan.kept[0].contains("AGENTS.md"), "{plan:?}");
        desk.wire(&forced(Tool::Codex));
        assert_eq!(desk.text("AGENTS.md"), text);

        let project = Some("books".to_owned());
        let newer = accord_wiring::Choices { project, ..choices(Tool::Codex) };
        desk.put("AGENTS.md", &format!("Above{newline}{text}Below{newline}"));
        desk.wire(&newer);
        let text = desk.text("AGENTS.md");
        assert!(text.contains("`books`") && !text.contains("`shop`"), "{text}");
        desk.remove(&newer);
        let left = format!("Above{newline}# Shop{newline}Below{newline}");
        assert_eq!(desk.text("AGENTS.md"), left);
    }
}

#[test]
fn a_block_stays_until_the_last_tool_is_gone() {
    let mut desk = Desk::with(&[("AGENTS.md", "# Shop")]);
    let before = desk.state();
    desk.wire(&choices(Tool::Claude));
    desk.wire(&choices(Tool::Codex));
    desk.remove(&choices(Tool::Claude));
    assert!(desk.text("AGENTS.md").contains("accord:begin"));
    assert!(!desk.paths().iter().any(|path| path.as_str() == ".mcp.json"));
    desk.remove(&choices(Tool::Codex));
    assert_eq!(desk.state(), before);
    assert!(desk.ledger.is_empty(), "{:?}", desk.ledger);
}
