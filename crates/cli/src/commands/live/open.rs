//! `accord live open`: a link to the page of a session.

use accord_api::{Call, NoBody, NoParams};
use accord_live_core::operations::OfLive;
use accord_live_core::operations::pages::{LinkQuery, MakeLink};
use accord_live_core::operations::questions::ShowLiveSession;

use super::place::PlaceArgs;
use crate::host::{ActorArg, print_document};
use crate::render::{Times, clean};
use crate::{Exit, Result, print_note};

/// Print a link to the page of a live session; it logs in once
///
/// The link belongs to the host that runs. It can be opened once, and soon expires. Answers on the
/// page are recorded in the name of the actor.
#[derive(Debug, clap::Args)]
pub(super) struct OpenArgs {
    /// The session id, or its beginning
    session: String,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    place: PlaceArgs,
}

impl OpenArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let actor = self.actor.acting()?;
        let place = self.place.open_served()?;
        let path = place.session(&self.session)?;
        let of_link = OfLive { session: path.session.clone() };
        let call = Call::<MakeLink>::new(of_link, LinkQuery::default(), NoBody);
        let answered = place.host.call_by(&actor, &call)?;
        // The operation names no project, so that it also has links to sessions of others.
        place.host.ask::<ShowLiveSession>(path, NoParams)?;
        let made = answered.answer.0;
        let link = made.url.as_ref().unwrap_or(&made.path);
        print_document(place.json, &answered.text, |page| page.line(clean(link)))?;
        if !place.json {
            let until = Times::default().at(Some(&made.expires_at));
            print_note(format!("it opens once, until {until}"));
        }
        Ok(Exit::Yes)
    }
}
