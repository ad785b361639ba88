//! What an agent is given to read about its task.

use std::fs;
use std::path::Path;

use accord_tasks_core::task::TaskFile;

use super::{REPORT, agent_of};

/// How many files of a folder are named.
const FILES_SHOWN: usize = 50;

/// The briefing of an agent: the task, its inputs, and how to report. `more` is added before the
/// instructions for the report, such as what the project's memory knows.
pub fn briefing(task: &TaskFile, run_id: &str, folder: &Path, more: &str) -> String {
    let about = task.task();
    let agent = agent_of(task);
    let mut text = format!(
        "You are the agent {agent}. Work on this task until it is done or cannot go on.\n\n\
         # {}\n\nTask: {}\nPriority: {}\nFolder: {}\n",
        about.title,
        about.id,
        about.urgency().as_str(),
        folder.display()
    );
    if !task.body().is_empty() {
        text.push_str(&format!("\n{}\n", task.body()));
    }
    let inputs = files(&folder.join("inputs"));
    if !inputs.is_empty() {
        text.push_str("\n## Inputs\n\n");
        for name in inputs.iter().take(FILES_SHOWN) {
            text.push_str(&format!("- inputs/{name}\n"));
        }
        if let Some(rest) = inputs.len().checked_sub(FILES_SHOWN).filter(|rest| *rest > 0) {
            text.push_str(&format!("- and {rest} more\n"));
        }
    }
    if !more.trim().is_empty() {
        text.push_str(&format!("\n{}\n", more.trim()));
    }
    text.push_str(&format!(
        "\n## Report\n\n\
         Put working files into work/ and results into outputs/ of the folder. Write \
         outputs/summary.md.\n\
         Before you end, write {REPORT} in the folder:\n\n\
         {{\"outcome\": \"done\", \"summaryRef\": \"outputs/summary.md\", \"deliverables\": [], \
         \"tests\": {{\"total\": 0, \"passed\": 0, \"failed\": 0}}, \"blockers\": [], \
         \"notes\": \"\"}}\n\n\
         outcome is done, needs_review, partial or blocked; blocked needs blockers. The run is \
         {run_id}.\n"
    ));
    text
}

/// The names in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
