//! Who is told.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use accord_base::{Access, ProjectId, Verb};
use accord_client::Reach;
use accord_contract::Time;
use accord_notify::{Format, Quiet, Wants};

use crate::settings::{ReceiverPlace, Settings};

/// Somebody who is told.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) name: String,
    pub(super) wants: Wants,
    pub(super) place: Place,
    pub(super) format: Format,
    /// Whom mails are to and from.
    pub(super) to: Vec<String>,
    pub(super) from: Option<String>,
    /// How long it may take for one message.
    pub(super) timeout: Duration,
    /// What a person adds to that; `None` for a receiver of the operator.
    pub(super) person: Option<Personal>,
}

/// A person who is told.
#[derive(Clone, Debug)]
pub(super) struct Personal {
    /// The person, such as `human:lead`.
    pub(super) actor: String,
    /// What the person may read.
    pub(super) access: Access,
    /// When nothing is sent.
    pub(super) quiet: Option<Quiet>,
    /// To which addresses messages go.
    pub(super) reach: Reach,
}

impl Receiver {
    /// Whether it is told something of a project.
    pub(super) fn may_read(&self, project: &ProjectId) -> bool {
        let access = self.person.as_ref().map(|person| &person.access);
        access.is_none_or(|access| access.may(Verb::Read, project).is_ok())
    }

    /// Whether nothing is sent to it at a time.
    pub(super) fn is_quiet(&self, now: Time) -> bool {
        let quiet = self.person.as_ref().and_then(|person| person.quiet);
        quiet.is_some_and(|quiet| quiet.covers(now))
    }
}

/// Where messages go.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Url {
        url: String,
        secret_file: Option<PathBuf>,
        token_file: Option<PathBuf>,
    },
    /// A program and its arguments.
    Command(Vec<String>),
}

/// The receivers that the operator has set.
pub(super) fn operators(settings: &Settings) -> Vec<Arc<Receiver>> {
    let settings = &settings.notify;
    let plain = |name: &str, place| Receiver {
        name: name.to_owned(),
        wants: Wants::default(),
        place,
        format: Format::Json,
        to: Vec::new(),
        from: None,
        timeout: settings.timeout,
        person: None,
    };
    let mut all = Vec::new();
    if let Some(url) = &settings.url {
        let (url, secret_file) = (url.as_str().to_owned(), settings.secret_file.clone());
        all.push(plain("url", Place::Url { url, secret_file, token_file: None }));
    }
    if let Some(command) = &settings.command {
        all.push(plain("command", Place::Command(command.words().to_vec())));
    }
    for one in &settings.receivers.all {
        let place = match &one.place {
            ReceiverPlace::Url(url) => Place::Url {
                url: url.as_str().to_owned(),
                secret_file: one.secret_file.clone(),
                token_file: one.token_file.clone(),
            },
            ReceiverPlace::Command(command) => Place::Command(command.words().to_vec()),
        };
        all.push(Receiver {
            wants: one.wants.clone(),
            format: one.format,
            to: one.to.clone(),
            from: one.from.clone(),
            timeout: one.timeout,
            ..plain(&one.name, place)
        });
    }
    all.into_iter().map(Arc::new).collect()
}
