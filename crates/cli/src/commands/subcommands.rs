//! Commands that only select one of their commands.

/// Declares the commands below another one. A command is one line: its name and its arguments,
/// whose `run` runs it. Commands with the same arguments give a word to it: `Archive(OneArgs) as
/// "archive"`.
macro_rules! subcommands {
    ($args:ident, $name:ident {
        $($(#[$meta:meta])* $variant:ident($($type:tt)+) $(as $word:literal)?,)+
    }) => {
        #[derive(Debug, clap::Subcommand)]
        enum $name {
            $($(#[$meta])* $variant($($type)+),)+
        }

        impl $args {
            /// Runs the command.
            pub(crate) fn run(self) -> Result<$crate::exit::Exit, $crate::error::CliError> {
                match self.command {
                    $($name::$variant(args) => args.run($($word)?),)+
                }
            }
        }
    };
}
