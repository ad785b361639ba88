//! `envelope!`: the declaration of a successful answer.

/// Declares a successful answer of ALX: a [`message!`](crate::message) that begins with the members
/// of the envelope, `ok`, `correlationId` and `protocol` (WG-02).
#[macro_export]
macro_rules! envelope {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($wire_name:literal) { $($members:tt)* }
        $(aliases { $($aliases:tt)+ })?
    )+) => {$(
        $crate::message! {
            $(#[doc = $about])*
            $vis struct $name($wire_name, open) {
                /// The request was carried out.
                required ok: $crate::wire::True = "ok", "success-flag";
                /// The id that joins the answer to its request.
                required correlation_id: ::std::string::String =
                    "correlationId", "correlation-id";
                /// The version and the capabilities of the server.
                required protocol: $crate::alx::ProtocolInfo = "protocol", "protocol-info";
                $($members)*
            }
            $(aliases { $($aliases)+ })?
        }
    )+};
}
