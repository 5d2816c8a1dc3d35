//! Scripts that are evaluated in a process of their own: the far side. It reads scripts and calls their functions as it is told, one at a time, and
//! asks what they ask of whoever started it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use dayshift_engine::Value;

use super::isolation::{FromProcess, SCRIPT_MESSAGE_BYTES_MAX, ToProcess, decode, encode};
use super::program::{Argument, Failure, Language, Program, Stage};

/// Evaluates scripts for the process at the other end of `input` and `output`, until `input` ends.
///
/// # Errors
///
/// When a message is cut off or none of ours, or the other end is gone.
pub fn serve_scripts(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    let mut languages: BTreeMap<String, Language> = BTreeMap::new();
    let mut programs: BTreeMap<u32, Program> = BTreeMap::new();
    let line = Line(RefCell::new((input, output)));
    while let Some(message) = line.receive()? {
        match message {
            ToProcess::Read { program, prelude, file, source } => {
                if !languages.contains_key(&prelude) {
                    languages.clear();
                    match Language::over(&prelude) {
                        Ok(language) => drop(languages.insert(prelude.clone(), language)),
                        Err(failure) => {
                            line.send(&FromProcess::Read(Err(failure)))?;
                            continue;
                        }
                    }
                }
                let read = languages[&prelude].compile(&file, &source);
                let functions = read.map(|read| {
                    let functions = read.functions().into_iter().map(Into::into).collect();
                    programs.insert(program, read);
                    functions
                });
                line.send(&FromProcess::Read(functions))?;
            }
            ToProcess::Call { program, function, arguments } => {
                let program = programs.get(&program).ok_or_else(|| confused("a script that was not read"))?;
                let arguments: Vec<Argument<'_>> =
                    arguments.iter().map(|(attributes, value)| Argument::of_parts(*attributes, value)).collect();
                line.done(program, program.call(&function, &arguments, &line))?;
            }
            ToProcess::Forget => programs.clear(),
            ToProcess::Answer(_) => return Err(confused("an answer to no question")),
        }
    }
    Ok(())
}

/// The way to the other end, on which scripts ask as well.
struct Line<'a>(RefCell<(&'a mut dyn Read, &'a mut dyn Write)>);

impl Line<'_> {
    fn receive(&self) -> io::Result<Option<ToProcess>> {
        let input = &mut self.0.borrow_mut().0;
        let mut size = [0; 4];
        match input.read_exact(&mut size) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let size = u32::from_le_bytes(size) as usize;
        if size > SCRIPT_MESSAGE_BYTES_MAX {
            return Err(confused("a message that is too long"));
        }
        let mut message = vec![0; size];
        input.read_exact(&mut message)?;
        decode(&message).map(Some).ok_or_else(|| confused("a message that cannot be read"))
    }

    fn send(&self, message: &FromProcess) -> io::Result<()> {
        self.send_bytes(&encode(message))
    }

    fn done(&self, program: &Program, done: Result<Value, Failure>) -> io::Result<()> {
        let message = encode(&FromProcess::Done(done));
        if message.len() <= SCRIPT_MESSAGE_BYTES_MAX {
            return self.send_bytes(&message);
        }
        let message = format!("it gives back more than {SCRIPT_MESSAGE_BYTES_MAX} bytes; give back less");
        self.send(&FromProcess::Done(Err(Failure { file: program.file().into(), line: 0, message })))
    }

    fn send_bytes(&self, message: &[u8]) -> io::Result<()> {
        let output = &mut self.0.borrow_mut().1;
        let size = u32::try_from(message.len()).map_err(|_| confused("a message that is too long"))?;
        output.write_all(&size.to_le_bytes())?;
        output.write_all(message)?;
        output.flush()
    }
}

impl Stage for Line<'_> {
    fn answer(&self, day: Option<&str>, question: &str, arguments: Value) -> Result<Value, String> {
        let gone = |error: io::Error| format!("nobody answers: {error}");
        let message =
            encode(&FromProcess::Ask { day: day.map(str::to_owned), question: question.to_owned(), arguments });
        if message.len() > SCRIPT_MESSAGE_BYTES_MAX {
            return Err(format!("the question is longer than {SCRIPT_MESSAGE_BYTES_MAX} bytes; ask with less"));
        }
        self.send_bytes(&message).map_err(gone)?;
        match self.receive().map_err(gone)? {
            Some(ToProcess::Answer(answer)) => answer,
            Some(ToProcess::Read { .. } | ToProcess::Call { .. } | ToProcess::Forget) | None => {
                Err("nobody answers".to_owned())
            }
        }
    }
}

fn confused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
