//! The tasks by status.

use accord_base::excerpt::one_line;
use accord_base::tokens;
use accord_tasks_core::operations::BoardAnswer;

use super::Lines;
use super::list::item;

/// The board in Markdown. The columns share the budget; what does not fit is counted.
pub(crate) fn board(answer: &BoardAnswer, budget: usize) -> String {
    let mut lines = Lines::new(budget);
    let title = answer.title.as_deref().unwrap_or(&answer.project_id);
    let counts: Vec<String> =
        answer.columns.iter().map(|column| format!("{} {}", column.status, column.count)).collect();
    let head = format!("Board of {}: {} tasks", one_line(title, 60), answer.total);
    lines.add(&format!("{head} ({})", counts.join(", ")), 0);
    if answer.damaged > 0 {
        lines.add(&format!("{} files cannot be read as tasks; see lint.", answer.damaged), 0);
    }
    let filled: Vec<_> = answer.columns.iter().filter(|column| column.count > 0).collect();
    let heading = |status: &str| format!("\n## {status}");
    let more = |count: u64| format!("{count} more");
    // Every column has its heading and a count, before one has its tasks.
    let frame = |column: &&&accord_tasks_core::operations::BoardColumn| {
        tokens(&heading(column.status.as_str())) + tokens(&more(u64::MAX)) + 2
    };
    let mut reserved: usize = filled.iter().map(|column| frame(&column)).sum();
    for (place, column) in filled.iter().enumerate() {
        reserved -= frame(&column);
        let own = tokens(&more(u64::MAX)) + 1;
        lines.add(&heading(column.status.as_str()), reserved + own);
        // An equal share of what is left, so that a long column does not hide the next ones.
        let share = lines.left.saturating_sub(reserved) / (filled.len() - place);
        let least = lines.left.saturating_sub(share).max(reserved + own);
        let mut shown = 0;
        for task in &column.tasks {
            if !lines.add(&format!("- {}", item(task)), least) {
                break;
            }
            shown += 1;
        }
        let hidden = column.count.saturating_sub(shown);
        if hidden > 0 {
            lines.add(&more(hidden), reserved);
        }
    }
    lines.text
}
