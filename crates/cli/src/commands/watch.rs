//! `accord watch`: what happens in all projects, as it happens.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use accord_api::body::Events;
use accord_api::{Call, NoBody, NoParams};
use accord_base::ProjectId;
use accord_base::cursor::StreamPosition;
use accord_contract::{Code, Wire as _};
use accord_memory_core::operations::{ProjectEvent, WatchEvents, WatchHeaders, WatchQuery};

use crate::host::{Connection, HostArgs, Sent, SentEvents, id_of};
use crate::{CliError, Exit, Output, Result, print_note, render};

/// How long a host that does not answer is tried again.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause before the host is tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// Print what happens in all projects as it happens, until Ctrl-C
///
/// Packages, facts, tasks, runs, live sessions, decisions and edges, as one stream. Needs a host
/// that runs: `accord serve`. If the host is restarted, the stream goes on where it ended.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// Only events of this project [default: of all projects]
    #[arg(long, value_name = "ID")]
    project: Option<String>,

    /// Begin after this position: the `cursor` of an event of --json
    #[arg(long, value_name = "CURSOR", conflicts_with = "all")]
    after: Option<String>,

    /// Begin with the first event that is kept [default: from now on]
    #[arg(long)]
    all: bool,

    /// End after this number of events
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    #[command(flatten)]
    host: HostArgs,
}

/// How far the events were printed.
#[derive(Default)]
struct Printed {
    /// The place from which the host resumes.
    place: Option<String>,
    /// The last event of each project: those behind the place are sent again.
    projects: BTreeMap<String, u64>,
}

impl WatchArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let project = self.project.as_deref().map(|id| id_of::<ProjectId>("project_id", id));
        let query = WatchQuery { project: project.transpose()?, after: None };
        let first = self.all.then(|| StreamPosition::default().encode());
        let mut printed =
            Printed { place: self.after.clone().or(first), projects: BTreeMap::new() };
        let mut left = self.count.unwrap_or(u64::MAX);
        let (mut output, mut lost) = (Output::stdout(), None::<Instant>);
        while left > 0 {
            let watched = self.watch(&query, &mut printed, &mut left, &mut output, &mut lost);
            match watched {
                Ok(()) if left == 0 => break,
                Ok(()) => {}
                Err(error) if error.code() == Some(Code::HostUnreachable) => {
                    // A host that was never reached is not waited for.
                    match lost {
                        Some(since) if since.elapsed() < PATIENCE => {}
                        _ => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
            std::thread::sleep(PAUSE);
        }
        output.finish()
    }

    /// Prints events until the stream ends. `lost` is since when the host is missing, if it was
    /// reached before.
    fn watch(
        &self,
        query: &WatchQuery,
        printed: &mut Printed,
        left: &mut u64,
        output: &mut Output,
        lost: &mut Option<Instant>,
    ) -> Result<()> {
        let host = self.host.target.to_served()?;
        let resume = WatchHeaders { last_event_id: printed.place.clone() };
        let call = Call::<WatchEvents>::new(NoParams, query.clone(), NoBody)
            .encode()
            .with_headers(&resume);
        let mut events = host.runtime.block_on(SentEvents::open(&host, call.into()))?;
        if lost.take().is_some() {
            print_note("the host is back");
        }
        let followed = self.print(&host, &mut events, printed, left, output);
        if *left > 0 {
            *lost = Some(Instant::now());
            print_note("the host closed the stream; it is tried again for a minute");
        }
        match followed {
            Err(error) if error.code() == Some(Code::HostUnreachable) => Ok(()),
            followed => followed,
        }
    }

    fn print(
        &self,
        host: &Connection,
        events: &mut SentEvents,
        printed: &mut Printed,
        left: &mut u64,
        output: &mut Output,
    ) -> Result<()> {
        while *left > 0 {
            let sent = host.runtime.block_on(events.next())?;
            if let Some(place) = events.place() {
                printed.place = Some(place.to_owned());
            }
            let Some(sent) = sent else { return Ok(()) };
            let Sent::Event { id, data } = sent else { continue };
            let mut event = Events::<ProjectEvent>::decode(&data)?;
            if printed.is_new(&event) {
                *left -= 1;
                if let Some(place) = &id {
                    event.extra.insert("cursor".to_owned(), place.as_str().into());
                }
                output.line(match self.host.json {
                    true => event.encode().to_string(),
                    false => render::project_event(&event),
                })?;
                output.flush().map_err(CliError::from_output)?;
            }
            printed.place = id.or(printed.place.take());
        }
        Ok(())
    }
}

impl Printed {
    /// Notes an event. Returns whether it was not printed before.
    fn is_new(&mut self, event: &ProjectEvent) -> bool {
        let (Some(project), Some(seq)) = (&event.project_id, event.seq) else { return true };
        let known = self.projects.entry(project.as_str().to_owned()).or_default();
        let is_new = seq > *known;
        *known = seq.max(*known);
        is_new
    }
}
