//! `params!`: the parameters of an operation as a struct.

use accord_contract::Failure;

use super::{Definition, Described, Params};

/// The parameters of a path or a query.
pub trait ParamSet: Sized {
    /// Reads them. Fails when one is missing or wrong.
    fn read(params: &Params<'_>) -> Result<Self, Failure>;

    /// Their names and texts, in the order of the declaration.
    fn write(&self) -> Vec<(&'static str, String)>;

    /// What a document says about them.
    fn described() -> Vec<DescribedMember>;
}

/// What a document says about a parameter of a set.
#[derive(Clone, Debug)]
pub struct DescribedMember {
    /// Its definition.
    pub definition: Described,
    /// Whether it must be given.
    pub required: bool,
    /// What it means.
    pub about: String,
}

/// No parameters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NoParams;

impl ParamSet for NoParams {
    fn read(_: &Params<'_>) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn described() -> Vec<DescribedMember> {
        Vec::new()
    }
}

#[doc(hidden)]
pub fn pair<D: Definition>(definition: &D, value: &D::Value) -> (&'static str, String) {
    (definition.name(), definition.text(value))
}

/// Declares the parameters of a path or a query from their definitions.
///
/// ```
/// use accord_api::parameter::{Flag, Number, ParamSet, Params, Text};
/// use accord_contract::wire::TextForm;
///
/// accord_api::params! {
///     /// Which notes are listed.
///     pub struct NotesQuery {
///         /// The folder.
///         required folder: Text = Text::new("folder", TextForm::ANY);
///         /// Also old notes.
///         flag all: Flag = Flag::new("all");
///         /// The most notes.
///         optional limit: Number = Number::new("limit", 1, 100).or(10);
///     }
/// }
///
/// let sent = NotesQuery { folder: "a b".into(), all: true, limit: None };
/// let pairs = sent.write();
/// assert_eq!(pairs, [("folder", "a b".to_owned()), ("all", "true".to_owned())]);
/// let pairs = pairs.iter().map(|(name, text)| (*name, text.as_str()));
/// let read = NotesQuery::read(&Params::new(pairs)?)?;
/// assert_eq!((read.folder.as_str(), read.all, read.limit), ("a b", true, Some(10)));
/// # Ok::<(), accord_contract::codes::Failure>(())
/// ```
///
/// * `required D` gives the value of the definition, `optional D` an `Option` of it, and
///   `flag D` a `bool`, which is sent if it is true.
/// * The doc comment of a member is what documents say about the parameter.
#[macro_export]
macro_rules! params {
    ($(
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),+)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $member_about:literal])*
                $presence:ident $member:ident: $definition:ty = $value:expr;
            )+
        }
    )+) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Debug $($(, $derived)+)?)]
        $vis struct $name {
            $(
                $(#[doc = $member_about])*
                pub $member: $crate::params!(@type $presence $definition),
            )+
        }

        impl $crate::parameter::ParamSet for $name {
            fn read(
                params: &$crate::parameter::Params<'_>,
            ) -> ::core::result::Result<Self, $crate::contract::codes::Failure> {
                ::core::result::Result::Ok(Self {
                    $($member: $crate::params!(
                        @read $presence params, $crate::params!(@defined $definition, $value)
                    ),)+
                })
            }

            fn write(&self) -> ::std::vec::Vec<(&'static str, ::std::string::String)> {
                let mut pairs = ::std::vec::Vec::new();
                $($crate::params!(
                    @write $presence pairs,
                    $crate::params!(@defined $definition, $value),
                    self.$member
                );)+
                pairs
            }

            fn described() -> ::std::vec::Vec<$crate::parameter::DescribedMember> {
                ::std::vec![$(
                    $crate::parameter::DescribedMember {
                        definition: $crate::parameter::Definition::described(
                            &$crate::params!(@defined $definition, $value),
                        ),
                        required: $crate::params!(@is_required $presence),
                        about: $crate::contract::wire::about(&[$($member_about),*]),
                    }
                ),+]
            }
        }
    )+};

    (@defined $definition:ty, $value:expr) => {{
        const DEFINITION: $definition = $value;
        DEFINITION
    }};
    (@type required $definition:ty) => { <$definition as $crate::parameter::Definition>::Value };
    (@type optional $definition:ty) => {
        ::core::option::Option<<$definition as $crate::parameter::Definition>::Value>
    };
    (@type flag $definition:ty) => { bool };
    (@is_required required) => { true };
    (@is_required $presence:ident) => { false };
    (@read required $params:ident, $value:expr) => {
        $crate::parameter::Definition::value(&$value, $params)?.ok_or_else(|| {
            $crate::parameter::wrong($crate::parameter::Definition::name(&$value), "is missing")
        })?
    };
    (@read optional $params:ident, $value:expr) => {
        $crate::parameter::Definition::value(&$value, $params)?
    };
    (@read flag $params:ident, $value:expr) => {
        $crate::parameter::Definition::value(&$value, $params)?.unwrap_or(false)
    };
    (@write required $pairs:ident, $value:expr, $member:expr) => {
        $pairs.push($crate::parameter::pair(&$value, &$member))
    };
    (@write optional $pairs:ident, $value:expr, $member:expr) => {
        if let ::core::option::Option::Some(given) = &$member {
            $pairs.push($crate::parameter::pair(&$value, given));
        }
    };
    (@write flag $pairs:ident, $value:expr, $member:expr) => {
        if $member {
            $pairs.push($crate::parameter::pair(&$value, &true));
        }
    };
}
