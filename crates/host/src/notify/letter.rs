//! A mail to one person, at once, by the operator's program.

use accord_contract::{Code, Failure};
use accord_notify::{MailAddresses, letter};
use accord_process::Cancel;
use accord_system::{random_hex, spawn_blocking};

use super::deliver::start;
use crate::http::Host;

impl Host {
    /// Fails with `MAIL_NOT_SENT` if no program sends mails.
    pub(crate) fn check_mail(&self) -> Result<(), Failure> {
        self.settings().notify.mail.as_ref().map(drop).ok_or_else(|| {
            not_sent("this server has no program that sends mails")
                .suggesting("set notify.mail, such as sendmail -t -i")
        })
    }

    /// Sends a mail, and waits until the program has taken it. Fails with `MAIL_NOT_SENT`.
    pub(crate) async fn send_mail(
        &self,
        to: &str,
        (subject, text): (&str, &str),
    ) -> Result<(), Failure> {
        self.check_mail()?;
        let settings = &self.settings().notify;
        let argv = settings.mail.as_ref().map(|command| command.words().to_vec());
        let (argv, timeout) = (argv.unwrap_or_default(), settings.timeout);
        let addresses = [to.to_owned()];
        let addresses = MailAddresses { to: &addresses, from: None };
        let mail = letter(&random_hex::<16>(), (subject, text), addresses);
        let sent = spawn_blocking(move || start(&argv, &[], mail, timeout, &Cancel::new())).await;
        let sent = sent.unwrap_or_else(|error| Err(error.to_string()));
        sent.map_err(|error| not_sent(&format!("the program of notify.mail failed: {error}")))
    }
}

pub(crate) fn not_sent(message: &str) -> Failure {
    Failure::new(Code::MailNotSent, message)
}
