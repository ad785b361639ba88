//! Questions that are made from the commits of a git repository.
//!
//! A commit without merges and with a body of at least 20 words, trailers left out, is a package:
//! its body and the paths that it changed. In the first set the title of the commit is the question
//! and not in the package. In the second set the title of the package is that of the commit, and
//! the question is the longest sentence of the body, which is left out of the package.

use std::process::Command;

use crate::evaluation::{Evaluation, Question, Text};

/// The fewest words of a body and of a sentence that is a question.
const WORDS: (usize, usize) = (20, 6);

/// The most commits, unless [`LIMIT`] says otherwise. The newest are taken.
const COMMITS: usize = 4_000;

/// Names the most commits.
const LIMIT: &str = "ACCORD_RETRIEVAL_COMMITS";

/// The most paths of a package.
const PATHS: usize = 40;

/// Lines that name people and numbers, and belong to no text.
const TRAILERS: [&str; 8] = [
    "signed-off-by:",
    "co-authored-by:",
    "reviewed-by:",
    "change-id:",
    "ref:",
    "fixes #",
    "closes #",
    "ref #",
];

struct Commit {
    id: String,
    title: String,
    body: String,
    paths: String,
}

/// The two sets of a repository: by the title of a commit, and by a sentence of its body.
pub(crate) fn of_repository(folder: &str) -> [Evaluation; 2] {
    let commits = read(folder);
    [by_title(&commits), by_sentence(&commits)]
}

fn read(folder: &str) -> Vec<Commit> {
    let git_folder = format!("{folder}/.git");
    let folder = if std::path::Path::new(&git_folder).exists() { &git_folder } else { folder };
    let output = Command::new("git")
        .args(["--git-dir", folder, "log", "--no-merges", "--name-only"])
        .arg("--format=%x1e%H%x1f%s%x1f%b%x1f")
        .output()
        .expect("git");
    assert!(output.status.success(), "git log: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let commits = text.split('\u{1e}').filter_map(|entry| {
        let [id, title, body, paths] = entry.splitn(4, '\u{1f}').collect::<Vec<_>>()[..] else {
            return None;
        };
        let is_text = |line: &&str| {
            let line = line.trim().to_lowercase();
            !TRAILERS.iter().any(|trailer| line.starts_with(trailer))
        };
        let body: Vec<&str> = body.lines().filter(is_text).collect();
        let paths = paths.lines().filter(|path| !path.is_empty()).take(PATHS);
        Some(Commit {
            id: id[..12].to_owned(),
            title: title.to_owned(),
            body: body.join("\n"),
            paths: paths.collect::<Vec<_>>().join("\n"),
        })
    });
    let commits = commits.filter(|commit| commit.body.split_whitespace().count() >= WORDS.0);
    let limit = std::env::var(LIMIT).ok().map(|limit| limit.parse().expect("a number"));
    commits.take(limit.unwrap_or(COMMITS)).collect()
}

fn by_title(commits: &[Commit]) -> Evaluation {
    made_of(commits, |commit| {
        let question = commit.title.clone();
        Some((question, String::new(), commit.body.clone()))
    })
}

fn by_sentence(commits: &[Commit]) -> Evaluation {
    made_of(commits, |commit| {
        // Code and lists are not sentences.
        let paragraphs =
            commit.body.split("\n\n").filter(|text| !text.starts_with([' ', '-', '*']));
        let text = paragraphs.map(|text| text.replace('\n', " ")).collect::<Vec<_>>();
        let sentences = text.iter().flat_map(|text| text.split(". "));
        let words = |sentence: &&str| sentence.split_whitespace().count();
        let longest = sentences.max_by_key(words).filter(|sentence| words(sentence) >= WORDS.1)?;
        let rest = text.iter().map(|text| text.replacen(longest, "", 1)).collect::<Vec<_>>();
        Some((longest.to_owned(), commit.title.clone(), rest.join("\n")))
    })
}

/// The packages of commits, and their questions. `make` gives question, title and body; a commit
/// without a question is a package all the same.
fn made_of(
    commits: &[Commit],
    make: impl Fn(&Commit) -> Option<(String, String, String)>,
) -> Evaluation {
    let mut evaluation = Evaluation::default();
    for (place, commit) in commits.iter().enumerate() {
        let made = make(commit);
        let question = made.as_ref().map(|(question, ..)| question.clone());
        let whole = (String::new(), commit.title.clone(), commit.body.clone());
        let (_, title, body) = made.unwrap_or(whole);
        let parts = [title, String::new(), String::new(), String::new()];
        let [title, decisions, questions, handoff] = parts;
        let body = format!("{}\n{body}", commit.paths);
        let parts = [title, decisions, questions, handoff, body];
        evaluation.packages.push(Text { id: commit.id.clone(), parts, supersedes: Vec::new() });
        evaluation.questions.extend(question.map(|text| Question {
            text,
            answers: vec![commit.id.clone()],
            is_paraphrase: false,
            is_held_out: place % 2 == 1,
        }));
    }
    evaluation
}
