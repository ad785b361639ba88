//! `accord live watch`: what happens in a session, as it happens.

use std::io::Write as _;

use accord_api::body::Events;
use accord_api::{Call, NoBody};
use accord_contract::Code;
use accord_live_core::operations::watch::{LiveFrame, WatchLiveSession, WatchQuery};

use super::place::{Place, PlaceArgs};
use crate::host::{HostRequest, Sent, SentEvents};
use crate::render::{self, clean};
use crate::{CliError, Exit, Output, Result, print_note};

/// Print what happens in a live session, until Ctrl-C or its end
///
/// Asks, frames of its stream, and the events of its ledger. With --json each line is a frame of
/// the channel; x-ask and x-answered are Accord's own.
#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// The session id, or its beginning
    session: String,

    /// Begin after this event of the ledger; 0 for all [default: the last one now]
    #[arg(long, value_name = "N")]
    since: Option<u64>,

    /// Begin after this frame of the stream, as far as frames are kept; 0 for all [default: the
    /// last one now]
    #[arg(long, value_name = "N")]
    from_seq: Option<u64>,

    /// End after this number of frames
    #[arg(long, value_name = "N")]
    count: Option<u64>,

    #[command(flatten)]
    place: PlaceArgs,
}

impl WatchArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open_served()?;
        let query = WatchQuery { since: self.since, from_seq: self.from_seq };
        let path = place.session(&self.session)?;
        let request = Call::<WatchLiveSession>::new(path, query, NoBody).encode().into();
        let left = self.count.unwrap_or(u64::MAX);
        place.host.runtime.block_on(follow(&place, request, left))
    }
}

async fn follow(place: &Place, request: HostRequest, mut left: u64) -> Result<Exit> {
    let mut events = SentEvents::open(&place.host, request).await?;
    let mut output = Output::stdout();
    let mut last_comment = String::new();
    while left > 0 {
        match events.next().await? {
            None => return ended(&last_comment),
            Some(Sent::Comment(comment)) => last_comment = comment,
            Some(Sent::Event { data, .. }) => {
                left -= 1;
                output.line(match place.json {
                    false => render::live_frame(&Events::<LiveFrame>::decode(&data)?),
                    true => data,
                })?;
                output.flush().map_err(CliError::from_output)?;
            }
        }
    }
    output.finish()
}

/// Why a stream ended, as its last comment says.
fn ended(comment: &str) -> Result<Exit> {
    let message = match comment {
        "session_expired" => {
            print_note("the session has expired");
            return Ok(Exit::Yes);
        }
        "" | "follows" | "keep-alive" => "the host closed the stream".to_owned(),
        other => format!("the host ended the stream: {}", clean(other)),
    };
    Err(CliError::new(Code::HostUnreachable, message).help("watch it again"))
}
