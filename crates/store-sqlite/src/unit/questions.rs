//! The rows of questions.

use accord_base::ProjectId;
use accord_canon::sha256;
use accord_contract::Time;
use accord_memory_core::package::QuestionKey;
use accord_memory_core::query::QuestionPosition;
use accord_store::derived::{
    ALL_READERS, AskedQuestion, ListedQuestion, QuestionRows, QuestionSource, QuestionState,
    QuestionUse, StoredQuestion,
};
use accord_store::time_key::{self, Span};
use accord_store::{QuestionQuery, Result, Stored, Table};
use rusqlite::params;

use super::column::Row;
use super::damage::examine;
use super::select::{Select, text};
use super::{Unit, limit, number, sources};

/// Selects the columns that [`question`] reads.
macro_rules! select {
    ($($rest:expr),+) => {
        concat!(
            "SELECT q.text, q.pk, q.audience, q.open, q.asked_key, q.package, q.ordinal, q.sources",
            $($rest),+
        )
    };
}

/// The columns of `question_use` that [`question_use`] reads.
macro_rules! use_columns {
    () => {
        "u.question, u.asked_key, u.package, u.package_id, u.ordinal, u.ask_key"
    };
}

impl QuestionRows for Unit<'_> {
    fn insert_question(
        &mut self,
        project: &ProjectId,
        audience: &str,
        text: &str,
        state: &QuestionState,
    ) -> Result<i64> {
        let sql = "INSERT INTO question (project, audience, digest, text, asked_key, package,
            ordinal, sources, folded, open) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let QuestionState { is_open, asked_key, package, index, sources } = state;
        let (project, key) = (self.must_find(project)?, QuestionKey::of(text));
        let (digest, sources) = (digest(text), sources::write(sources));
        let folded = key.digest().as_bytes();
        let values = params![
            project, audience, digest, text, asked_key, package, index, sources, folded, is_open
        ];
        self.run(sql, values)?;
        let question = self.connection.last_insert_rowid();
        self.touch_question(question);
        Ok(question)
    }

    fn set_question_state(&mut self, question: i64, state: &QuestionState) -> Result<()> {
        let sql = "UPDATE question
            SET asked_key = ?2, package = ?3, ordinal = ?4, sources = ?5, open = ?6
            WHERE pk = ?1";
        let QuestionState { is_open, asked_key, package, index, sources } = state;
        let sources = sources::write(sources);
        self.touch_question(question);
        self.write(sql, params![question, asked_key, package, index, sources, is_open])
    }

    fn set_question_sources(&mut self, question: i64, sources: &[QuestionSource]) -> Result<()> {
        let sql = "UPDATE question SET sources = ?2 WHERE pk = ?1";
        self.write(sql, params![question, sources::write(sources)])
    }

    fn delete_question(&mut self, question: i64) -> Result<()> {
        self.touch_question(question);
        self.write("DELETE FROM question WHERE pk = ?1", (question,))
    }

    fn insert_question_use(&mut self, asked: &QuestionUse) -> Result<()> {
        let sql = "INSERT INTO question_use
            (question, asked_key, package, ordinal, package_id, ask_key)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let QuestionUse { question, source, index, ask_key } = asked;
        let QuestionSource { key, package, id } = source;
        self.touch_question(*question);
        self.write(sql, params![question, key, package, index, id, ask_key])
    }

    fn delete_question_uses(&mut self, package: i64) -> Result<()> {
        let asked = "SELECT question FROM question_use WHERE package = ?1";
        for question in self.many(asked, (package,), |row| row.integer(0))? {
            self.touch_question(question);
        }
        self.write("DELETE FROM question_use WHERE package = ?1", (package,))
    }

    fn question(&self, of: &ProjectId, reader: &str, text: &str) -> Result<Option<StoredQuestion>> {
        let sql = select!(
            " FROM question q
             WHERE q.project = ?1 AND q.audience = ?2 AND q.digest = ?3 AND q.text = ?4"
        );
        let values = params![self.or_none(of)?, reader, digest(text), text];
        self.one(sql, values, question)
    }

    fn questions_with_key(&self, of: &ProjectId, key: &QuestionKey) -> Result<Vec<StoredQuestion>> {
        let sql = select!(" FROM question q WHERE q.project = ?1 AND q.folded = ?2");
        let values = params![self.or_none(of)?, key.digest().as_bytes()];
        self.many(sql, values, question)
    }

    fn questions_of(
        &self,
        project: &ProjectId,
        package: i64,
    ) -> Result<Vec<Option<(StoredQuestion, QuestionUse)>>> {
        let sql = select!(
            ", ",
            use_columns!(),
            ", q.project FROM question_use u JOIN question q ON q.pk = u.question
             WHERE u.package = ?1 ORDER BY u.ordinal"
        );
        let pk = self.or_none(project)?;
        self.many(sql, (package,), |row| {
            let read = question(row).and_then(|known| Ok((known, question_use(row, 8)?)));
            Ok(read.ok().filter(|_| row.integer(14) == Ok(pk)))
        })
    }

    fn asked_question(&self, of: &ProjectId, id: &str, at: i64) -> Result<Option<AskedQuestion>> {
        let sql = "SELECT q.text, u.ask_key FROM package p
            JOIN question_use u ON u.package = p.pk AND u.ordinal = ?3
            JOIN question q ON q.pk = u.question
            WHERE p.package_id = ?1 AND p.project = ?2";
        let values = params![id, self.or_none(of)?, at];
        self.one(sql, values, |row| Ok(AskedQuestion { text: row.text(0)?, ask_key: row.text(1)? }))
    }

    fn newest_uses(&self, question: i64, after: &str, wanted: usize) -> Result<Vec<QuestionUse>> {
        let sql = concat!(
            "SELECT ",
            use_columns!(),
            " FROM question_use u WHERE u.question = ?1 AND u.ask_key > ?2
             ORDER BY u.asked_key DESC, u.package DESC LIMIT ?3"
        );
        self.many(sql, (question, after, limit(wanted)), |row| question_use(row, 0))
    }

    fn question_page(
        &self,
        project: &ProjectId,
        audience: &str,
        since: &str,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<ListedQuestion>> {
        let mut select = Select::new(
            select!(
                ", EXISTS (SELECT 1 FROM answer a
                    WHERE a.project = q.project AND a.question = q.folded)
                 FROM question q
                 WHERE q.project = ? AND q.audience = ? AND q.asked_key >= ?"
            ),
            [self.or_none(project)?.into(), text(audience), text(since)],
        );
        if !query.answered {
            select.add("AND q.open = 1", []);
        }
        if let Some(QuestionPosition { package, index }) = query.after {
            let (key, seq) = (text(&time_key::of(package.created_at)), number(package.seq));
            select.add(
                "AND q.asked_key <= ? AND (q.asked_key < ? OR q.package < ?
                    OR (q.package = ? AND q.ordinal > ?))",
                [key.clone(), key, seq.into(), seq.into(), i64::from(index).into()],
            );
        }
        let wanted = limit(query.limit).into();
        select.add("ORDER BY q.asked_key DESC, q.package DESC, q.ordinal LIMIT ?", [wanted]);
        select.run(self, |row| {
            Ok(ListedQuestion { question: question(row)?, is_answered: row.integer(8)? == 1 })
        })
    }

    fn has_questions(&self, project: &ProjectId, audience: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM question WHERE project = ?1 AND audience = ?2 LIMIT 1";
        let any = self.one(sql, params![self.or_none(project)?, audience], |row| row.integer(0))?;
        Ok(any.is_some())
    }

    fn audiences_between(&self, of: &ProjectId, after: &str, before: &str) -> Result<Vec<String>> {
        // Skips from one audience to the next in the index.
        let sql = "SELECT audience FROM question
            WHERE project = ?1 AND audience > ?2 AND audience < ?3 ORDER BY audience LIMIT 1";
        let pk = self.or_none(of)?;
        let mut audiences: Vec<String> = Vec::new();
        loop {
            let last = audiences.last().map_or(after, String::as_str);
            match self.one(sql, params![pk, last, before], |row| row.text(0))? {
                Some(next) => audiences.push(next),
                None => return Ok(audiences),
            }
        }
    }

    fn visit_questions(
        &self,
        of: &ProjectId,
        visit: &mut dyn FnMut(Stored<StoredQuestion>) -> Result<()>,
    ) -> Result<()> {
        let sql = select!(" FROM question q WHERE q.project = ?1");
        let read = |row: &Row<'_>| visit(examine(row, Table::Question, of, |row, _| question(row)));
        self.each(sql, (self.or_none(of)?,), read, |()| true)
    }
}

impl Unit<'_> {
    pub(super) fn question_count(&self, project: i64, since: Option<Time>) -> Result<u64> {
        let since = since.map(time_key::of);
        let whole_hours = "SELECT CAST(total(questions) AS INTEGER) FROM question_tally
            WHERE project = ?1 AND hour > ?2";
        let hour = since.as_deref().map_or("", |key| Span::Hour.of(key));
        // A negative count is damage, which a verification reports.
        let count = |row: &Row<'_>| Ok(row.count(0).unwrap_or_default());
        let whole_hours = self.one(whole_hours, (project, hour), count)?;
        let whole_hours = whole_hours.unwrap_or_default();
        let Some(key) = &since else { return Ok(whole_hours) };
        let sql = "SELECT count(*) FROM question WHERE project = ?1 AND audience = ?2 AND open = 1
            AND asked_key >= ?3 AND asked_key < ?4";
        let values = params![project, ALL_READERS, key, Span::Hour.end(key)];
        let begun_hour = self.one(sql, values, count)?;
        Ok(whole_hours.saturating_add(begun_hour.unwrap_or_default()))
    }
}

fn question(row: &Row<'_>) -> Result<StoredQuestion> {
    Ok(StoredQuestion {
        text: row.text(0)?,
        number: row.integer(1)?,
        audience: row.text(2)?,
        state: QuestionState {
            is_open: row.integer(3)? == 1,
            asked_key: row.text(4)?,
            package: row.integer(5)?,
            index: row.integer(6)?,
            sources: row.parsed(7, "a source", |text| Some(sources::read(text)))?,
        },
    })
}

/// A row of `question_use` whose columns begin at one.
fn question_use(row: &Row<'_>, at: usize) -> Result<QuestionUse> {
    let (key, package, id) = (row.text(at + 1)?, row.integer(at + 2)?, row.text(at + 3)?);
    Ok(QuestionUse {
        question: row.integer(at)?,
        source: QuestionSource { key, package, id },
        index: row.integer(at + 4)?,
        ask_key: row.text(at + 5)?,
    })
}

/// The digest by which a question is looked up. The texts are compared afterwards.
fn digest(text: &str) -> i64 {
    let digest = sha256(text.as_bytes());
    // Eight bytes are enough for an index, and a text may be long.
    let [a, b, c, d, e, f, g, h, ..] = *digest.as_bytes();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}
