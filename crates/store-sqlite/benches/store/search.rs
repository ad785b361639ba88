//! Searching, beside a plain FTS5 table of the same terms, ranked by BM25.

use accord_store::{SearchQuery, StoreExt as _};
use rusqlite::Connection;

use crate::packages::{deposit, project};
use crate::stores::Stores;
use crate::{Gates, micros, p50};

/// More make no difference to what is promised.
const MOST: usize = 100_000;

/// Searches of each query.
const TIMES: usize = 60;

/// The first result: two words that are each in one package of twenty.
const QUERIES: [(&str, &str); 5] = [
    ("two words, each in 5 % of the packages", "zebra walrus"),
    ("one word that is in most", "wa"),
    ("both, and ten that are common", "zebra walrus wa wb wc wd we wf wg wh wi wj"),
    ("twelve words of a text", "wbac wcab wdd wacf wkb wpq waad wgca wrf wbbb wmc wfa"),
    (
        "sixty words of a text",
        "wbac wcab wdd wacf wkb wpq waad wgca wrf wbbb wmc wfa waba wbab wcac wdad waf wbf wcf wdf \
         wak wbk wck wdk wap wbp wcp wdp war wbr wcr wdr wam wbm wcm wdm waah wbah wcah wdah waj \
         wbj wcj wdj was wbs wcs wds wat wbt wct wdt wau wbu wcu wdu wan wbn wcn wdn",
    ),
];

pub(crate) fn run(gates: &mut Gates, stores: &Stores, packages: usize) {
    let largest = packages.min(MOST);
    for packages in [largest / 10, largest] {
        println!("\nsearch: {packages} packages");
        let took = measure(stores, packages);
        if packages == largest {
            gates.at_most("milliseconds for two words", took[0].0, 25.0);
            gates.at_most("with ten common words more", took[2].0 / took[0].0, 3.0);
        }
        let slowest = took.iter().map(|(ours, _)| *ours).fold(0.0, f64::max);
        gates.at_most("milliseconds for the slowest", slowest, 50.0);
    }
}

/// The milliseconds of each query: of search, and of FTS5.
fn measure(stores: &Stores, packages: usize) -> Vec<(f64, f64)> {
    let store = stores.open(packages);
    let plain = Plain::new(packages);
    let project = project().project_id;
    let measured = QUERIES.iter().map(|(what, text)| {
        let query = SearchQuery { text, limit: 5, ..SearchQuery::default() };
        let mut left_out = Vec::new();
        let took = p50(TIMES, |_| {
            let found = store.read(|unit| unit.search(&project, &query));
            let found = found.expect("a search");
            assert_eq!(found.hits.len(), 5);
            left_out = found.left_out;
        });
        let ours = micros(took) / 1000.0;
        let theirs = micros(p50(TIMES, |_| assert_eq!(plain.search(text), 5))) / 1000.0;
        println!(
            "  {what}: p50 {ours:.1} ms, FTS5 {theirs:.1} ms, ratio {:.2}, {} left out",
            ours / theirs,
            left_out.len()
        );
        (ours, theirs)
    });
    measured.collect()
}

/// A full-text table in a file, with the terms of the packages.
struct Plain {
    connection: Connection,
    _folder: tempfile::TempDir,
}

impl Plain {
    fn new(packages: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = Connection::open(folder.path().join("plain.db")).expect("a database");
        let table = "CREATE VIRTUAL TABLE plain USING fts5 (title, text, content = '');
            PRAGMA synchronous = OFF; BEGIN";
        connection.execute_batch(table).expect("a table");
        let mut insert = connection
            .prepare("INSERT INTO plain (rowid, title, text) VALUES (?1, ?2, ?3)")
            .expect("a statement");
        for number in 0..packages {
            let index = deposit(number, packages).index;
            let [title, rest @ ..] = index.terms();
            insert.execute((number as i64, title, rest.concat())).expect("a row");
        }
        drop(insert);
        connection.execute_batch("COMMIT").expect("a commit");
        Self { connection, _folder: folder }
    }

    /// Returns how many packages were found.
    fn search(&self, text: &str) -> usize {
        let words: Vec<&str> = text.split(' ').collect();
        let sql = "SELECT rowid FROM plain WHERE plain MATCH ?1 ORDER BY rank LIMIT 5";
        let mut statement = self.connection.prepare_cached(sql).expect("a statement");
        let rows = statement.query_map((words.join(" OR "),), |row| row.get::<_, i64>(0));
        rows.expect("rows").collect::<Result<Vec<_>, _>>().expect("rows").len()
    }
}
