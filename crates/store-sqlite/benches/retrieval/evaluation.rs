//! Packages, questions with judged answers, and how well a search finds them.
//!
//! A file of `data` has packages, then questions. A package begins with `# ` and its id. Lines
//! `title:`, `decision:`, `question:`, `handoff:`, `tags:` and `path:` follow; behind an empty line
//! comes the Markdown text. A question is a line `= text -> ids` if it shares words with its
//! answer, and `~ text -> ids` if it is a paraphrase.
//!
//! The packages alternate between two sets. Weights were chosen on the questions about the first;
//! the questions about the second are held out.

use std::collections::BTreeMap;

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_store::testing::Generator;
use accord_store::{
    PARTS, PackageIndex, PackageRow, ProjectRow, SearchQuery, Store, StoreError, StoreExt as _,
};
use rusqlite::Connection;

/// The files.
const DATA: [&str; 12] = [
    include_str!("data/agents.txt"),
    include_str!("data/auth.txt"),
    include_str!("data/catalog.txt"),
    include_str!("data/data.txt"),
    include_str!("data/database.txt"),
    include_str!("data/delivery.txt"),
    include_str!("data/infrastructure.txt"),
    include_str!("data/mobile.txt"),
    include_str!("data/observability.txt"),
    include_str!("data/payments.txt"),
    include_str!("data/queues.txt"),
    include_str!("data/sessions.txt"),
];

/// How many packages are joined to a long one.
const JOINED: usize = 7;

/// How many results count for recall.
const FIRST: usize = 5;

/// How many results are read.
const LIMIT: usize = 20;

/// Packages and questions about them.
#[derive(Default)]
pub(crate) struct Evaluation {
    pub(crate) packages: Vec<Text>,
    pub(crate) questions: Vec<Question>,
}

/// The texts of a package.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) parts: [String; PARTS],
}

/// A question.
pub(crate) struct Question {
    pub(crate) text: String,
    /// The ids of the packages that answer it.
    pub(crate) answers: Vec<String>,
    /// Whether it shares few words with its answer.
    pub(crate) is_paraphrase: bool,
    /// Whether it was not looked at when weights were chosen.
    pub(crate) is_held_out: bool,
}

/// How well questions were answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) questions: usize,
    /// The share of questions with an answer among the first five results.
    pub(crate) recall: f64,
    /// The average of 1 / the place of the first answer.
    pub(crate) reciprocal: f64,
}

impl Evaluation {
    /// Reads all files.
    pub(crate) fn load() -> Self {
        let mut evaluation = Self::default();
        for file in DATA {
            let (packages, questions) = file.split_once("\n== questions\n").expect("questions");
            for package in packages.split("\n# ") {
                evaluation.packages.push(Text::parse(package.trim_start_matches("# ")));
            }
            let places = evaluation.packages.iter().map(|package| &package.id).zip(0..);
            let places: BTreeMap<&String, usize> = places.collect();
            for line in questions.lines().filter(|line| !line.is_empty()) {
                let (text, answers) = line[2..].split_once(" -> ").expect("answers");
                let answers: Vec<String> = answers.split(' ').map(str::to_owned).collect();
                let places = answers.iter().map(|answer| *places.get(answer).expect(answer));
                let is_held_out = places.min().is_some_and(|place| place % 2 == 1);
                let is_paraphrase = line.starts_with("~ ");
                assert!(is_paraphrase || line.starts_with("= "), "{line}");
                let text = text.to_owned();
                evaluation.questions.push(Question { text, answers, is_paraphrase, is_held_out });
            }
        }
        evaluation
    }

    /// The same texts in fewer, long packages, each about many things. The answer to a question is
    /// the package that has the text of its answer.
    pub(crate) fn joined(self) -> Self {
        let count = self.packages.len() / JOINED;
        let mut packages: Vec<Text> = (0..count).map(Text::session).collect();
        let mut joined = BTreeMap::new();
        for (number, package) in self.packages.into_iter().enumerate() {
            // Neighbours have the same topic, so they go to different packages.
            let target = &mut packages[number % count];
            target.parts[PARTS - 1].push_str(&(package.parts.join("\n") + "\n"));
            joined.insert(package.id, target.id.clone());
        }
        let questions = self.questions.into_iter().map(|question| {
            let answers = question.answers.iter().map(|answer| joined[answer].clone());
            Question { answers: answers.collect(), ..question }
        });
        Self { questions: questions.collect(), packages }
    }

    /// The figures of a search, which returns the ids of packages, best first, over some questions.
    pub(crate) fn figures(
        &self,
        wanted: impl Fn(&Question) -> bool,
        mut search: impl FnMut(&str) -> Vec<String>,
    ) -> Figures {
        let mut figures = Figures::default();
        for question in self.questions.iter().filter(|question| wanted(question)) {
            let found = search(&question.text);
            let place = found.iter().position(|id| question.answers.contains(id));
            figures.questions += 1;
            figures.recall += f64::from(u8::from(place.is_some_and(|place| place < FIRST)));
            figures.reciprocal += place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
        }
        figures.recall /= figures.questions as f64;
        figures.reciprocal /= figures.questions as f64;
        figures
    }

    /// Deposits the packages in a store.
    pub(crate) fn deposit(&self, store: &dyn Store) {
        let project = project();
        let row = ProjectRow { project_id: project.clone(), ..Generator::new(1).project_row() };
        store.write(move |unit| unit.insert_project(&row)).expect("a project");
        for package in &self.packages {
            let row = package.row(&project);
            let index = PackageIndex::of_parts(package.parts.each_ref().map(String::as_str), &[]);
            let log = [Generator::new(1).revision(1)];
            store.write(move |unit| unit.insert_package(&row, &index, &log)).expect("a package");
        }
    }
}

impl Text {
    /// An empty package with a title that says nothing.
    fn session(number: usize) -> Self {
        let mut session = Self { id: format!("session-{number}"), ..Self::default() };
        session.parts[0] = format!("Session {number}");
        session
    }

    fn parse(text: &str) -> Self {
        let (id, text) = text.split_once('\n').expect("an id");
        let (head, body) = text.split_once("\n\n").expect("a text");
        let mut package = Self { id: id.to_owned(), ..Self::default() };
        for line in head.lines() {
            let (name, value) = line.split_once(": ").expect("a field");
            let part = match name {
                "title" => 0,
                "decision" => 1,
                "question" => 2,
                "handoff" => 3,
                "tags" | "path" => 4,
                _ => panic!("{line}"),
            };
            package.parts[part].push_str(value);
            package.parts[part].push('\n');
        }
        package.parts[PARTS - 1].push_str(body);
        package
    }

    fn row(&self, project: &ProjectId) -> PackageRow {
        let (row, ..) = Generator::new(5).package_row();
        let mut row = PackageRow {
            project_id: project.clone(),
            package_id: PackageId::new(self.id.as_str()).expect("an id"),
            quarantine: None,
            ..row
        };
        row.state.revision = 1;
        row.state.status = accord_memory_core::package::Status::Complete;
        row
    }
}

/// The ids of the packages that a store finds.
pub(crate) fn search(store: &dyn Store, text: &str) -> Vec<String> {
    let query = SearchQuery { text, limit: LIMIT, ..SearchQuery::default() };
    let found = store.read(|unit| unit.search(&project(), &query));
    let found: Result<_, StoreError> = found;
    let hits = found.expect("a search").hits.into_iter();
    hits.map(|hit| hit.package.package_id.as_str().to_owned()).collect()
}

/// A plain full-text index: one column, Porter stemming, BM25, any word of the query.
pub(crate) struct Plain(Connection);

impl Plain {
    pub(crate) fn new(evaluation: &Evaluation) -> Self {
        let connection = Connection::open_in_memory().expect("a database");
        let table = "CREATE VIRTUAL TABLE plain USING fts5 (id UNINDEXED, text,
            tokenize = 'porter unicode61')";
        connection.execute_batch(table).expect("a table");
        for package in &evaluation.packages {
            let values = (&package.id, package.parts.join("\n"));
            connection.execute("INSERT INTO plain VALUES (?1, ?2)", values).expect("a row");
        }
        Self(connection)
    }

    /// The ids of the packages with one of the words.
    pub(crate) fn search<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
        let words: Vec<String> = words.into_iter().map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT id FROM plain WHERE plain MATCH ?1 ORDER BY bm25(plain) LIMIT ?2";
        let mut statement = self.0.prepare_cached(sql).expect("a statement");
        let values = (words.join(" OR "), LIMIT as i64);
        let rows = statement.query_map(values, |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("ids")
    }
}

/// All words of a query.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn project() -> ProjectId {
    ProjectId::new("proj_evaluation").expect("an id")
}
