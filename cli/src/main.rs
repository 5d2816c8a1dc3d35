//! The `dayshift` command line. stdout is data, stderr is talk and progress; exit 0 good or same, 1 failed or different, 2 could not tell.
//! It holds no logic that another door would also need: that is in `dayshift-runs`.

#![expect(clippy::disallowed_methods, reason = "a door may ask the host; nothing of it enters a log")]

mod arguments;
mod check;
mod commands;
mod compare;
mod new;
mod play;
mod show;
mod store;
mod tables;
mod talk;
mod trust;
mod why;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command, KeyCommand};
use crate::talk::{Failure, Verdict};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let json = arguments.json;
    let outcome = run(arguments);
    // A reader that closed the pipe has what it wanted.
    let _ = std::io::stdout().flush();
    match outcome {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(failure) => {
            if json {
                talk::print(
                    &serde_json::json!({ "error": { "code": failure.code, "message": failure.message } }).to_string(),
                );
            }
            // What comes out of a package or log may have lines of its own: none of them looks like ours.
            talk::warn(&format!("error[{}]: {}", failure.code, failure.message.replace('\n', "\n  │ ")));
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<Verdict, Failure> {
    let desk = commands::Desk { store: arguments.store, json: arguments.json };
    match arguments.command {
        Command::List => commands::list(&desk),
        Command::New { dir } => new::new(&desk, &dir),
        Command::Check { scenarios, threads } => check::check(&desk, &scenarios, usize::from(threads)),
        Command::Run { scenario, agent, seed, sign } => play::run(&desk, &scenario, &agent, seed, sign.as_deref()),
        Command::Resume { run, agent, sign } => play::resume(&desk, &run, agent.as_deref(), sign.as_deref()),
        Command::Fork { run, at, agent, sign } => play::fork(&desk, &run, at, agent.as_deref(), sign.as_deref()),
        Command::Runs { quarantine: false } => commands::runs(&desk),
        Command::Runs { quarantine: true } => store::quarantine(&desk),
        Command::Discard { run } => commands::discard(&desk, &run),
        Command::Show { run, day, turn } => show::show(&desk, &run, day.as_deref(), turn),
        Command::Verify { run, head, key } => commands::verify(&desk, &run, head.as_deref(), &key),
        Command::Key(KeyCommand::New { path }) => trust::new_key(&desk, path),
        Command::Replay { run, host } => compare::replay(&desk, &run, host),
        Command::State { run, at } => compare::state(&desk, &run, at),
        Command::Diff { left, right, left_at, right_at } => compare::diff(&desk, (&left, left_at), (&right, right_at)),
        Command::Grade { run, checks, belief } => commands::grade(&desk, &run, checks.as_deref(), &belief),
        Command::Credit { run, audit, rho, gamma, lasting_only, audited, belief } => {
            let options = commands::CreditOptions { audit, rho, gamma, lasting_only, audited };
            commands::credit(&desk, &run, &options, &belief)
        }
        Command::Why { run, check } => why::why(&desk, &run, &check),
        Command::Export { runs, format, out, trust } => commands::export(&desk, &runs, format, &out, trust),
        Command::Import { file, salvage: false } => commands::import(&desk, &file),
        Command::Import { file, salvage: true } => store::import_salvaged(&desk, &file),
        Command::Compact => commands::compact(&desk),
    }
}
