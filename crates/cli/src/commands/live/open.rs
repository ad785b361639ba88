//! `accord live open`: a link to the page of a session.

use accord_base::{Decision, Need};
use hyper::Method;

use super::place::PlaceArgs;
use crate::commands::task::acting::ActorArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::HostRequest;
use crate::output::print_note;
use crate::render::{clean, moment};

/// Print a link to the page of a live session; it logs in once
///
/// The link belongs to the host that runs. It can be opened once, and soon expires. Answers on the
/// page are recorded in the name of the actor.
#[derive(Debug, clap::Args)]
pub(super) struct OpenArgs {
    /// The session id, or its beginning
    session: String,

    #[command(flatten)]
    actor: ActorArgs,

    #[command(flatten)]
    place: PlaceArgs,
}

/// What the route needs.
const SIGN_IN: Need = Need::Decide(Decision::SignIn);

impl OpenArgs {
    pub(super) fn run(self) -> Result<Exit, CliError> {
        let actor = self.actor.acting()?;
        let place = self.place.open_served()?;
        let id = place.session_id(&self.session)?;
        let path = ["accord", "v1", "live", &id, "link"];
        let answer =
            place.host.send_by(&actor, SIGN_IN, || HostRequest::new(Method::POST, &path))?;
        // The route names no project, so that it also has links to sessions of others.
        place.ask(place.get(&["sessions", &id]))?;
        let document = answer.value()?;
        let link = document["url"].as_str().or(document["path"].as_str()).unwrap_or_default();
        answer.print(place.json, |page, _| page.line(clean(link)))?;
        if !place.json {
            print_note(format!("it opens once, until {}", moment(&document["expires_at"])));
        }
        Ok(Exit::Yes)
    }
}
