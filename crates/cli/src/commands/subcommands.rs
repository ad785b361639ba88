//! Commands that only select one of their commands.

/// Declares a command and the commands below it. Each of these is one line: its name and its
/// arguments, whose `run` runs it. Commands with the same arguments give a value to it:
/// `Archive(OneArgs) as "archive"`. Arguments that others share need a function:
/// `List(HostArgs) => list`. With `through door`, each command passes a module: its `operation`
/// says what a command does, and its `check` gets what came of that.
macro_rules! subcommands {
    (@run $args:ident) => { $args.run() };
    (@run $args:ident as $word:expr) => { $args.run($word) };
    (@run $args:ident => $run:path) => { $run($args) };
    (
        $(#[$about:meta])* $visible:vis $args:ident, $name:ident $(through $door:ident)?
        { $($commands:tt)+ }
    ) => {
        #[derive(Debug, clap::Args)]
        $(#[$about])*
        $visible struct $args {
            #[command(subcommand)]
            command: $name,
        }

        subcommands! { below $args, $name $(through $door)? { $($commands)+ } }
    };
    (below $args:ident, $name:ident $(through $door:ident)? {
        $($(#[$meta:meta])* $variant:ident($($type:tt)+) $(as $word:expr)? $(=> $run:path)?,)+
    }) => {
        #[derive(Debug, clap::Subcommand)]
        enum $name {
            $($(#[$meta])* $variant($($type)+),)+
        }

        impl $args {
            pub(crate) fn run(self) -> $crate::Result<$crate::Exit> {
                $(let operation = $door::operation(&self.command);)?
                let ran = match self.command {
                    $($name::$variant(args) => subcommands!(@run args $(as $word)? $(=> $run)?),)+
                };
                $($door::check(&operation, &ran);)?
                ran
            }
        }
    };
}
