//! `accord task board`: the tasks by status; in a terminal, redrawn as they change.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::time::Duration;

use accord_api::{Answered, Json};
use accord_contract::Code;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{BoardAnswer, BoardQuery, TaskBoard, TaskBoardEnvelope};
use accord_tasks_core::task::Priority;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::names::name_parser;
use super::place::{Place, PlaceArgs, document};
use crate::interrupt::on_signal;
use crate::render::{self, Page};
use crate::{CliError, Exit, Result};

/// How often the board is read again.
const PAUSE: Duration = Duration::from_millis(250);

/// Show the tasks by status; in a terminal it follows the changes, until q or Ctrl-C
#[derive(Debug, clap::Args)]
pub(super) struct BoardArgs {
    /// Only the tasks of this team
    #[arg(long, value_name = "NAME")]
    team: Option<String>,

    /// Only the tasks of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Only the tasks with this status
    #[arg(long, value_name = "STATUS", value_parser = name_parser::<Status>())]
    status: Option<Status>,

    /// Only the tasks with this priority
    #[arg(long, value_name = "PRIORITY", value_parser = name_parser::<Priority>())]
    priority: Option<Priority>,

    /// The maximum number of tasks of each status [default: 10]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Print it once, also in a terminal
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

impl BoardArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let is_live = !self.once
            && !place.json
            && std::io::stdout().is_terminal()
            && std::io::stdin().is_terminal();
        if is_live {
            return self.follow(&place);
        }
        place.print(self.ask(&place)?, render::board)
    }

    fn ask(&self, place: &Place) -> Result<Answered<Json<TaskBoardEnvelope>>> {
        let query = BoardQuery {
            team: self.team.clone(),
            agent: self.agent.clone(),
            status: self.status,
            priority: self.priority,
            limit: self.limit,
            ..BoardQuery::default()
        };
        document(place.host.ask::<TaskBoard>(place.tasks()?, query)?)
    }

    fn follow(&self, place: &Place) -> Result<Exit> {
        let screen = Screen::open()?;
        let mut shown = String::new();
        loop {
            let drawn = draw(&self.ask(place)?.answer.0.result);
            if drawn != shown {
                screen.show(&drawn)?;
                shown = drawn;
            }
            if screen.is_left(PAUSE)? {
                return Ok(Exit::Yes);
            }
        }
    }
}

/// The board within the terminal, without its last line.
fn draw(board: &BoardAnswer) -> String {
    let mut page = Page::new();
    render::board(&mut page, board);
    let height = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| height.0.into());
    let mut drawn: Vec<String> = page.as_str().lines().map(str::to_owned).collect();
    let most = height.saturating_sub(2).max(3);
    if drawn.len() > most {
        let hidden = drawn.len() - most + 1;
        drawn.truncate(most - 1);
        drawn.push(format!("… {hidden} more lines; --limit shows fewer tasks of each status"));
    }
    drawn.push(page.styled(render::Style::Faint, "q ends"));
    drawn.join("\n")
}

/// The terminal while a board is on it. Dropping it restores the terminal.
struct Screen {
    before: Termios,
}

impl Screen {
    fn open() -> Result<Self> {
        let terminal = std::io::stdin();
        let failed = |error: Errno| unusable(&error.into());
        let before = tcgetattr(&terminal).map_err(failed)?;
        let restored = before.clone();
        // A signal ends the process without dropping anything.
        on_signal(move || restore(&restored))?;
        let mut modes = before.clone();
        // Keys arrive at once and are not shown. Ctrl-C stays a signal.
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Now, &modes).map_err(failed)?;
        let screen = Self { before };
        // The alternate screen, without a cursor.
        screen.write("\x1b[?1049h\x1b[?25l")?;
        Ok(screen)
    }

    /// Draws over what is on the screen, so that nothing flickers.
    fn show(&self, text: &str) -> Result<()> {
        let lines = text.lines().map(|line| format!("{line}\x1b[K\r\n"));
        self.write(&format!("\x1b[H{}\x1b[J", lines.collect::<String>()))
    }

    /// Waits for a key. Whether it was q, or the terminal is gone.
    fn is_left(&self, pause: Duration) -> Result<bool> {
        let stdin = std::io::stdin();
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) };
        match poll(&mut ready, Some(&pause)) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(unusable(&error.into())),
        }
        let mut keys = [0; 64];
        let count = stdin.lock().read(&mut keys).map_err(|error| unusable(&error))?;
        Ok(count == 0 || keys[..count].iter().any(|key| matches!(key, b'q' | b'Q' | 4)))
    }

    fn write(&self, text: &str) -> Result<()> {
        let mut terminal = std::io::stdout().lock();
        let written = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
        written.map_err(CliError::from_output)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

/// Gives the terminal back as it was.
fn restore(before: &Termios) {
    let mut terminal = std::io::stdout().lock();
    // Nothing can be done about a terminal that is gone.
    let _ = terminal.write_all(b"\x1b[?25h\x1b[?1049l").and_then(|()| terminal.flush());
    let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
}

fn unusable(error: &std::io::Error) -> CliError {
    CliError::new(Code::InputUnreadable, format!("the terminal cannot be used: {error}"))
        .help("print the board once with --once")
}
