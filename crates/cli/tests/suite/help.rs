//! The help of every command.

use crate::accord::accord;
use crate::snapshot;

#[test]
fn every_command_explains_itself() {
    snapshot::check("help", &help(&[]));
    for name in commands(&help(&[])) {
        let mut text = String::new();
        collect(&[&name], &mut text);
        snapshot::check(&format!("help-{name}"), &text);
    }
}

/// Adds the help of a command and of all below it.
fn collect(words: &[&str], text: &mut String) {
    let shown = help(words);
    text.push_str(&format!("$ accord {} --help\n{shown}\n", words.join(" ")));
    for name in commands(&shown) {
        collect(&[words, &[&name]].concat(), text);
    }
}

pub(crate) fn help(words: &[&str]) -> String {
    accord(&[words, &["--help"]].concat(), "").yes()
}

/// The commands that a help text lists.
pub(crate) fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // A description that goes on in the next line is indented further.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_owned).collect()
}
