//! Rows in columns.

use super::page::{Page, Style};

/// The widest column; a longer text pushes the others to the right.
const WIDEST: usize = 48;

/// Writes rows below their headings, each column as wide as it needs. A column that is empty in
/// every row is left out.
pub(crate) fn table(page: &mut Page, headings: &[&str], rows: &[Vec<String>]) {
    let is_used = |column: usize| rows.iter().any(|row| !row[column].is_empty());
    let used: Vec<usize> = (0..headings.len()).filter(|column| is_used(*column)).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        // One very long text must not push the next column away in every row.
        let widest = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0);
        widest.max(headings[column].len())
    };
    let widths: Vec<usize> = used.iter().map(|column| width(*column)).collect();
    let line = |texts: Vec<&str>| {
        let cells = texts.iter().zip(&widths);
        let cells: Vec<_> = cells.map(|(text, width)| format!("{text:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let heading = line(used.iter().map(|column| headings[*column]).collect());
    page.line(page.styled(Style::Faint, &heading));
    for row in rows {
        page.line(line(used.iter().map(|column| row[*column].as_str()).collect()));
    }
}
