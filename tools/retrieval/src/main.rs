//! How well search finds packages, beside plain full-text indexes of SQLite and tantivy, on the
//! sets of the benchmark `retrieval` of `crates/store-sqlite`.
//!
//! ```text
//! cd tools/retrieval
//! ACCORD_RETRIEVAL_REPOSITORY=FOLDER_OF_A_GIT_REPOSITORY cargo run
//! ```

#[path = "../../../crates/store-sqlite/benches/retrieval/commits.rs"]
mod commits;
#[path = "../../../crates/store-sqlite/benches/retrieval/evaluation.rs"]
mod evaluation;
#[path = "../../../crates/store-sqlite/benches/retrieval/plain.rs"]
mod plain;
#[path = "../../../crates/store-sqlite/benches/retrieval/table.rs"]
mod table;

use std::process::ExitCode;

use accord_store::terms::for_query;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value as _,
};
use tantivy::{Index, IndexReader, TantivyDocument, doc};

use evaluation::{Evaluation, LIMIT, words};

/// How an index of tantivy is made and asked.
struct Setting {
    name: &'static str,
    tokenizer: &'static str,
    /// Whether the function words of a question are left out.
    is_filtered: bool,
    /// The weight of the title.
    title: f32,
    /// Whether one letter of a word may be wrong.
    is_fuzzy: bool,
}

const SETTINGS: [Setting; 5] = [
    Setting::new("tantivy", "en_stem", false, 1.0, false),
    Setting::new("tantivy words", "en_stem", true, 1.0, false),
    Setting::new("tantivy title", "en_stem", true, 2.0, false),
    Setting::new("tantivy plain", "default", true, 1.0, false),
    Setting::new("tantivy fuzzy", "default", true, 1.0, true),
];

impl Setting {
    const fn new(
        name: &'static str,
        tokenizer: &'static str,
        is_filtered: bool,
        title: f32,
        is_fuzzy: bool,
    ) -> Self {
        Self { name, tokenizer, is_filtered, title, is_fuzzy }
    }
}

struct Tantivy {
    reader: IndexReader,
    parser: QueryParser,
    id: Field,
    is_filtered: bool,
}

impl Tantivy {
    fn new(evaluation: &Evaluation, setting: &Setting) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(setting.tokenizer)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let options = TextOptions::default().set_indexing_options(indexing);
        let id = schema.add_text_field("id", STRING | STORED);
        let title = schema.add_text_field("title", options.clone());
        let text = schema.add_text_field("text", options);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 50_000_000).expect("a writer");
        for package in &evaluation.packages {
            let document = doc!(
                id => package.id.as_str(),
                title => package.parts[0].as_str(),
                text => package.parts[1..].join("\n"),
            );
            writer.add_document(document).expect("a document");
        }
        writer.commit().expect("a commit");
        let mut parser = QueryParser::for_index(&index, vec![title, text]);
        parser.set_field_boost(title, setting.title);
        if setting.is_fuzzy {
            parser.set_field_fuzzy(title, false, 1, true);
            parser.set_field_fuzzy(text, false, 1, true);
        }
        let reader = index.reader().expect("a reader");
        Self { reader, parser, id, is_filtered: setting.is_filtered }
    }

    /// The ids of the packages that a query finds.
    fn search(&self, text: &str) -> Vec<String> {
        let asked = for_query(text);
        let filtered = asked.terms.iter().flat_map(|term| words(&term.word));
        let words: Vec<&str> =
            if self.is_filtered { filtered.collect() } else { words(text).collect() };
        // In small letters, because `AND`, `OR` and `NOT` are operators.
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let (query, _) = self.parser.parse_query_lenient(&words.join(" "));
        let searcher = self.reader.searcher();
        let best = TopDocs::with_limit(LIMIT).order_by_score();
        let found = searcher.search(&query, &best).expect("a search").into_iter();
        let ids = found.map(|(_, address)| {
            let document: TantivyDocument = searcher.doc(address).expect("a document");
            let id = document.get_first(self.id).and_then(|id| id.as_str()).expect("an id");
            id.to_owned()
        });
        ids.collect()
    }
}

fn main() -> ExitCode {
    let is_wordy = std::env::args().any(|argument| argument == "--missed");
    let mut is_above = true;
    for (name, evaluation) in table::sets() {
        let others = SETTINGS.iter().map(|setting| -> table::Engine {
            let tantivy = Tantivy::new(&evaluation, setting);
            (setting.name.to_owned(), Box::new(move |text| tantivy.search(text)))
        });
        is_above &= table::measure(&name, &evaluation, others, is_wordy);
    }
    if is_above {
        return ExitCode::SUCCESS;
    }
    println!("\nFAILED: search is not above the other engines");
    ExitCode::FAILURE
}
