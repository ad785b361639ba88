//! Packages, questions with judged answers, and how well a search finds them.
//!
//! A file of `data` has packages, then questions. A package begins with `# ` and its id. Lines
//! `title:`, `decision:`, `question:`, `handoff:`, `tags:`, `path:` and `supersedes:` follow;
//! behind an empty line comes the Markdown text. A question is a line `= text -> ids` if it shares
//! words with its answer, and `~ text -> ids` if it is a paraphrase.
//!
//! The packages alternate between two sets. Weights were chosen on the questions about the first;
//! the questions about the second are held out.

use std::collections::BTreeMap;

use accord_base::{ActorType, ProjectId};
use accord_memory_core::PackageId;
use accord_memory_core::package::Links;
use accord_store::testing::Generator;
use accord_store::{
    PARTS, PackageIndex, PackageRow, ProjectRow, SearchQuery, Store, StoreError, StoreExt as _,
    candidates, successors_first,
};

/// The files of the work of a team in prose.
const TEAM: [&str; 12] = [
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

/// The files of work on code: names, paths, hashes, versions, misspelt words, superseded packages.
const WORK: [&str; 2] = [include_str!("data/work/farm.txt"), include_str!("data/work/sync.txt")];

/// How many packages are joined to a long one.
const JOINED: usize = 7;

/// How many results count for recall.
const FIRST: usize = 5;

/// How many results are read.
pub(crate) const LIMIT: usize = 20;

/// Packages and questions about them.
#[derive(Default)]
pub(crate) struct Evaluation {
    pub(crate) packages: Vec<Text>,
    pub(crate) questions: Vec<Question>,
}

/// The texts of a package, and the ids of those that it supersedes.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) parts: [String; PARTS],
    pub(crate) supersedes: Vec<PackageId>,
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
    /// The share of questions with an answer as the first result.
    pub(crate) first: f64,
    /// The share of questions with an answer among the first five results.
    pub(crate) recall: f64,
    /// The average of 1 / the place of the first answer.
    pub(crate) reciprocal: f64,
}

impl Evaluation {
    /// The work of a team in prose.
    pub(crate) fn team() -> Self {
        Self::load(&TEAM)
    }

    /// Work on code.
    pub(crate) fn work() -> Self {
        Self::load(&WORK)
    }

    fn load(files: &[&str]) -> Self {
        let mut evaluation = Self::default();
        for file in files {
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
            figures.first += f64::from(u8::from(place == Some(0)));
            figures.recall += f64::from(u8::from(place.is_some_and(|place| place < FIRST)));
            figures.reciprocal += place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
        }
        for sum in [&mut figures.first, &mut figures.recall, &mut figures.reciprocal] {
            *sum /= figures.questions as f64;
        }
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
            let supersedes = package.supersedes.clone();
            let index = index.linked(Links { supersedes, ..Links::default() });
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
            if name == "supersedes" {
                let ids = value.split(' ').map(|id| PackageId::new(id).expect("an id"));
                package.supersedes = ids.collect();
                continue;
            }
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
        row.actor.kind = ActorType::Agent;
        row.state.revision = 1;
        row.state.status = accord_memory_core::package::Status::Complete;
        row
    }
}

/// The ids of the packages that a store finds.
pub(crate) fn search(store: &dyn Store, text: &str) -> Vec<String> {
    let query = SearchQuery { text, limit: LIMIT, ..SearchQuery::default() };
    let wider = SearchQuery { limit: candidates(LIMIT), ..query };
    let found = store.read(|unit| {
        let hits = unit.search(&project(), &wider)?.hits;
        successors_first(unit, &project(), &query, hits)
    });
    let found: Result<_, StoreError> = found;
    let hits = found.expect("a search").into_iter();
    hits.map(|hit| hit.package.package_id.as_str().to_owned()).collect()
}

/// All words of a query.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn project() -> ProjectId {
    ProjectId::new("proj_evaluation").expect("an id")
}
