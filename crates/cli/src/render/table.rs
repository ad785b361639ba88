//! Rows in columns, within the width of the terminal.

use super::page::{Page, Style};
use super::text::{shown_width, wrapped};

/// The widest column where the width is not limited; a longer text pushes the others to the right.
const WIDEST: usize = 48;

const SPACE: usize = 2;

/// Writes rows below their headings, each column as wide as it needs. A column that is empty in
/// every row is left out; without rows, nothing is written.
///
/// If the rows are wider than the terminal, texts are wrapped between words; if that is not enough,
/// each row becomes a block of lines. Nothing is cut.
pub(crate) fn table(page: &mut Page, headings: &[&str], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    let is_used = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let used: Vec<usize> = (0..headings.len()).filter(is_used).collect();
    let headings: Vec<&str> = used.iter().map(|column| headings[*column]).collect();
    let rows: Vec<Vec<&str>> =
        rows.iter().map(|row| used.iter().map(|column| row[*column].as_str()).collect()).collect();
    let natural = widths(&headings, &rows, shown_width);
    match page.width() {
        Some(most) if total(&natural) > most => {
            let least = widths(&headings, &rows, longest_word);
            match shrunk(natural, &least, most) {
                Some(widths) => write(page, &headings, &rows, &widths, true),
                None => blocks(page, &headings, &rows, most),
            }
        }
        Some(_) => write(page, &headings, &rows, &natural, false),
        None => {
            // One very long text must not push the next column away in every row.
            let widths = widths(&headings, &rows, |text| match shown_width(text) {
                wide if wide > WIDEST => 0,
                width => width,
            });
            write(page, &headings, &rows, &widths, false);
        }
    }
}

/// The width of each column by a measure of its texts.
fn widths(headings: &[&str], rows: &[Vec<&str>], measure: impl Fn(&str) -> usize) -> Vec<usize> {
    let width = |(column, heading): (usize, &&str)| {
        let texts = rows.iter().map(|row| measure(row[column]));
        texts.max().unwrap_or(0).max(heading.len())
    };
    headings.iter().enumerate().map(width).collect()
}

fn longest_word(text: &str) -> usize {
    text.split(' ').map(shown_width).max().unwrap_or(0)
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + SPACE * widths.len().saturating_sub(1)
}

/// The widths with which the columns fit, the widest made narrower first; none if they do not.
fn shrunk(mut widths: Vec<usize>, least: &[usize], most: usize) -> Option<Vec<usize>> {
    while total(&widths) > most {
        let (_, widest) = (0..widths.len())
            .filter(|column| widths[*column] > least[*column])
            .map(|column| (widths[column], column))
            .max()?;
        widths[widest] -= 1;
    }
    Some(widths)
}

fn write(page: &mut Page, headings: &[&str], rows: &[Vec<&str>], widths: &[usize], wrap: bool) {
    let line = |texts: &[&str]| {
        let cells = texts.iter().zip(widths).map(|(text, width)| {
            let space = width.saturating_sub(shown_width(text));
            format!("{text}{:space$}", "")
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let heading = line(headings);
    page.line(page.styled(Style::Faint, &heading));
    for row in rows {
        if !wrap {
            page.line(line(row));
            continue;
        }
        let cells = row.iter().zip(widths).map(|(text, width)| wrapped(text, *width));
        let cells: Vec<Vec<String>> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let texts = cells.iter().map(|lines| lines.get(at).map_or("", String::as_str));
            page.line(line(&texts.collect::<Vec<_>>()));
        }
    }
}

/// Each row as a block of lines, one for each column that has a text.
fn blocks(page: &mut Page, headings: &[&str], rows: &[Vec<&str>], most: usize) {
    let label = headings.iter().map(|heading| heading.len()).max().unwrap_or(0) + SPACE;
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            page.gap();
        }
        for (heading, text) in headings.iter().zip(row).filter(|(_, text)| !text.is_empty()) {
            let mut shown = page.styled(Style::Faint, &format!("{heading:label$}"));
            for line in wrapped(text, most.saturating_sub(label)) {
                page.line(format!("{shown}{line}"));
                shown = " ".repeat(label);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: usize) -> String {
        let rows = [
            ["pkg_1a2b3c4d", "a title of several words", "complete"],
            ["pkg_5e6f", "短い 題名", ""],
        ];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|text| (*text).to_owned()).collect()).collect();
        let mut page = Page::within(width);
        table(&mut page, &["ID", "TITLE", "STATUS"], &rows);
        page.as_str().to_owned()
    }

    #[test]
    fn a_table_fits_the_terminal() {
        for width in 12..60 {
            for line in shown(width).lines() {
                // An id is never broken.
                assert!(shown_width(line) <= width.max(20), "{width}: {line}");
            }
        }
        assert_eq!(
            shown(60),
            "ID            TITLE                     STATUS\n\
             pkg_1a2b3c4d  a title of several words  complete\n\
             pkg_5e6f      短い 題名\n"
        );
        assert_eq!(
            shown(37),
            "ID            TITLE          STATUS\n\
             pkg_1a2b3c4d  a title of     complete\n\
             \u{20}             several words\n\
             pkg_5e6f      短い 題名\n"
        );
        assert_eq!(
            shown(22),
            "ID      pkg_1a2b3c4d\n\
             TITLE   a title of\n\
             \u{20}       several words\n\
             STATUS  complete\n\
             \n\
             ID      pkg_5e6f\n\
             TITLE   短い 題名\n"
        );
    }
}
