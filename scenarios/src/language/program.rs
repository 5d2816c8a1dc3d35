//! A script, read once and frozen, and the evaluation of its functions: in this process, or in one of its own (`isolation.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dayshift_engine::{SmolStr, Value};
use serde::{Deserialize, Serialize};
use starlark::PrintHandler;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::structs::AllocStruct;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, Value as StarValue};

use super::convert::{from_starlark, to_starlark};
use super::isolation::{Isolation, RemoteProgram};
use super::limits::{Meter, STACK_BYTES, too_large, too_long};
use super::{guard, library, methods};
use crate::language::Vocabulary;
use crate::problem::{Place, Problem};

/// What the prelude is called where scripts fail.
pub(super) const PRELUDE_NAME: &str = "prelude";

/// Answers what scripts ask.
pub(crate) trait Stage {
    /// Answers `question`, of the world as it was at the end of `day` or as it is now.
    ///
    /// # Errors
    ///
    /// A sentence for the author.
    fn answer(&self, day: Option<&str>, question: &str, arguments: Value) -> Result<Value, String>;
}

/// What all scripts of a scenario share: the names that they find, and where they are evaluated.
pub(crate) enum Language {
    /// In this process.
    Here {
        /// What the interpreter knows.
        globals: Globals,
        /// What is defined before a script.
        prelude: FrozenModule,
    },
    /// In processes of their own.
    Apart {
        /// Which processes.
        isolation: Arc<Isolation>,
        /// The source of what is defined before a script.
        prelude: Arc<str>,
    },
}

/// One script, read.
pub(crate) struct Program {
    file: SmolStr,
    /// Sorted.
    functions: Vec<SmolStr>,
    body: Body,
}

enum Body {
    /// Frozen, in this process.
    Here(FrozenModule),
    Apart(RemoteProgram),
}

/// What a function is called with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    /// A value; a map is a dict.
    Plain(&'a Value),
    /// A map whose entries are attributes.
    Attributes(&'a Value),
}

impl<'a> Argument<'a> {
    /// Returns whether the entries are attributes, and the value.
    pub(super) fn parts(&self) -> (bool, Value) {
        match self {
            Self::Plain(value) => (false, (*value).clone()),
            Self::Attributes(value) => (true, (*value).clone()),
        }
    }

    /// Puts together what [`Self::parts`] took apart.
    pub(super) fn of_parts(attributes: bool, value: &'a Value) -> Self {
        if attributes { Self::Attributes(value) } else { Self::Plain(value) }
    }

    fn place<'v>(&self, heap: Heap<'v>) -> StarValue<'v> {
        match self {
            Self::Plain(value) => to_starlark(heap, value),
            Self::Attributes(value) => {
                let entries = value.as_map().into_iter().flatten();
                heap.alloc(AllocStruct(entries.map(|(name, value)| (name.as_str(), to_starlark(heap, value)))))
            }
        }
    }
}

/// Why a function of a script failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) file: SmolStr,
    pub(crate) line: u32,
    pub(crate) message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.file, self.message),
            line => write!(formatter, "{}:{line}: {}", self.file, self.message),
        }
    }
}

impl Language {
    /// Returns the language over the questions of `vocabulary`, evaluated in this process.
    ///
    /// # Errors
    ///
    /// A problem when the vocabulary holds names that are none.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Result<Self, Problem> {
        Self::over(&vocabulary.prelude()).map_err(|failure| {
            Problem::of_file("script/prelude", PRELUDE_NAME, failure.message, "name services and verbs by plain words")
        })
    }

    /// Returns the language over the questions of `vocabulary`, evaluated by the processes of `isolation`.
    pub(crate) fn apart(vocabulary: &Vocabulary, isolation: &Arc<Isolation>) -> Self {
        Self::Apart { isolation: Arc::clone(isolation), prelude: vocabulary.prelude().into() }
    }

    /// Returns the language over what `prelude` defines, evaluated in this process.
    pub(super) fn over(prelude: &str) -> Result<Self, Failure> {
        let globals = GlobalsBuilder::extended_by(&[LibraryExtension::StructType])
            .with(library::onstage)
            .with(library::bounded)
            .build();
        let hidden = GlobalsBuilder::extended_by(&[LibraryExtension::StructType, LibraryExtension::Print])
            .with(library::backstage)
            .build();
        let prelude = compile(PRELUDE_NAME, &format!("_hand = print\n{prelude}"), &hidden, None)?;
        Ok(Self::Here { globals, prelude })
    }

    /// Reads the script `source` of `file`.
    ///
    /// # Errors
    ///
    /// The first fault, with its line.
    pub(crate) fn read(&self, file: &str, source: &[u8]) -> Result<Program, Problem> {
        let Ok(text) = std::str::from_utf8(source) else {
            return Err(Problem::of_file("script/not-utf8", file, "the script is not UTF-8", "save it as UTF-8"));
        };
        guard::admit(text).map_err(|fault| {
            Problem::of_file("script/too-large", file, fault.message, fault.remedy).at(fault.place, text)
        })?;
        self.compile(file, text).map_err(|failure| {
            let place = Place { line: failure.line, column: 1 };
            Problem::of_file("script/fault", file, failure.message, "correct the script at this line").at(place, text)
        })
    }

    /// Reads a script that [`guard::admit`] has admitted.
    pub(super) fn compile(&self, file: &str, source: &str) -> Result<Program, Failure> {
        match self {
            Self::Here { globals, prelude } => {
                let module = compile(file, source, globals, Some(prelude))?;
                Ok(Program { file: file.into(), functions: functions(&module), body: Body::Here(module) })
            }
            Self::Apart { isolation, prelude } => {
                let (program, functions) = isolation.read(prelude, file, source)?;
                Ok(Program { file: file.into(), functions, body: Body::Apart(program) })
            }
        }
    }
}

impl Program {
    /// Returns the name of the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the names of the script's functions, sorted.
    pub(crate) fn functions(&self) -> Vec<&str> {
        self.functions.iter().map(SmolStr::as_str).collect()
    }

    /// Calls `function` with `arguments` before `stage`.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the line at which it failed.
    pub(crate) fn call(&self, function: &str, arguments: &[Argument<'_>], stage: &dyn Stage) -> Result<Value, Failure> {
        let module = match &self.body {
            Body::Here(module) => module,
            Body::Apart(program) => return program.call(function, arguments, stage),
        };
        let meter = Meter::default();
        guarded(&self.file, &meter, || {
            Module::with_temp_heap(|open| {
                let function = module.get(function).map_err(|error| library::refuse(error.to_string()))?;
                let function = open.heap().access_owned_frozen_value(&function);
                let arguments: Vec<StarValue<'_>> =
                    arguments.iter().map(|argument| argument.place(open.heap())).collect();
                let desk = Desk { module: &open, stage };
                let mut evaluator = Evaluator::new(&open);
                evaluator.set_print_handler(&desk);
                meter.watch(&mut evaluator)?;
                let answer = evaluator.eval_function(function, &arguments, &[])?;
                from_starlark(answer).map_err(library::refuse)
            })
        })
    }
}

/// Returns the names of the functions of `module`, sorted.
fn functions(module: &FrozenModule) -> Vec<SmolStr> {
    let is_function = |name: &str| module.get(name).is_ok_and(|value| value.value().get_type() == "function");
    let mut names: Vec<SmolStr> =
        module.names().map(|name| name.as_str()).filter(|name| is_function(name)).map(SmolStr::from).collect();
    names.sort_unstable();
    names
}

/// Takes the question that a script left on its module and leaves the answer there.
struct Desk<'a, 'v> {
    module: &'a Module<'v>,
    stage: &'a dyn Stage,
}

impl PrintHandler for Desk<'_, '_> {
    fn println(&self, _text: &str) -> starlark::Result<()> {
        let request = self.module.extra_value().and_then(TupleRef::from_value);
        let Some([question, day, arguments]) = request.map(TupleRef::content) else {
            return Err(library::refuse("there is no question to answer"));
        };
        let question = question.unpack_str().unwrap_or_default();
        let arguments = from_starlark(*arguments).map_err(library::refuse)?;
        let answer = self.stage.answer(day.unpack_str(), question, arguments).map_err(library::refuse)?;
        self.module.set_extra_value(to_starlark(self.module.heap(), &answer));
        Ok(())
    }
}

fn compile(
    file: &str,
    source: &str,
    globals: &Globals,
    prelude: Option<&FrozenModule>,
) -> Result<FrozenModule, Failure> {
    let dialect = Dialect {
        enable_load: false,
        enable_keyword_only_arguments: true,
        enable_top_level_stmt: true,
        enable_f_strings: true,
        ..Dialect::Standard
    };
    let meter = Meter::default();
    guarded(file, &meter, || {
        let mut ast = AstModule::parse(file, source.to_owned(), &dialect)?;
        if prelude.is_some() {
            let bounded = methods::bound(source).map_err(|(place, message)| {
                meter.stand_at(place.line);
                library::refuse(message)
            })?;
            ast = AstModule::parse(file, bounded, &dialect)?;
            let operators = [("*", "_times"), ("+", "_plus"), ("-", "_minus"), ("%", "_percent"), ("<<", "_shift")];
            ast.replace_binary_operators(
                &operators.map(|(sign, name)| (sign.to_owned(), name.to_owned())).into_iter().collect(),
            );
        }
        Module::with_temp_heap(|module| {
            if let Some(prelude) = prelude {
                module.import_public_symbols(prelude);
            }
            {
                let mut evaluator = Evaluator::new(&module);
                meter.watch(&mut evaluator)?;
                evaluator.eval_module(ast, globals)?;
            }
            module.freeze().map_err(|error| library::refuse(error.err_msg))
        })
    })
}

/// Runs `work` on a stack of its own and turns whatever goes wrong into a [`Failure`]: the interpreter panics where memory ends.
fn guarded<T>(file: &str, meter: &Meter, work: impl FnOnce() -> starlark::Result<T>) -> Result<T, Failure> {
    let done = stacker::grow(STACK_BYTES, || catch_unwind(AssertUnwindSafe(work)));
    let error = match done {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error,
        Err(_) => too_large(),
    };
    let mut message = error.without_diagnostic().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    if message.starts_with("Execution duration limit") {
        message = too_long().without_diagnostic().to_string();
    } else if message.starts_with("Heap memory limit") {
        message = too_large().without_diagnostic().to_string();
    } else if message.starts_with("Starlark call stack overflow") {
        let most = super::limits::CALL_DEPTH_MAX;
        message = format!("functions call one another deeper than {most}; use a loop instead of recursion");
    }
    let spans = error.span().into_iter().cloned();
    let frames = error.call_stack().clone().into_frames().into_iter().rev().filter_map(|frame| frame.location);
    let own = spans.chain(frames).find(|span| span.file.filename() == file);
    let line = own.map_or(meter.line(), |span| u32::try_from(span.resolve_span().begin.line + 1).unwrap_or(u32::MAX));
    Err(Failure { file: file.into(), line, message })
}
