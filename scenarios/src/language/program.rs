//! A script, read once and frozen, and the evaluation of its functions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dayshift_engine::{SmolStr, Value};
use starlark::PrintHandler;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::structs::AllocStruct;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, Value as StarValue};

use super::convert::{from_starlark, to_starlark};
use super::limits::{Meter, STACK_BYTES, too_large, too_long};
use super::{guard, library};
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

/// What all scripts of a scenario share: the names that they find.
pub(crate) struct Language {
    globals: Globals,
    prelude: FrozenModule,
}

/// One script, frozen.
pub(crate) struct Program {
    file: SmolStr,
    module: FrozenModule,
}

/// What a function is called with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument<'a> {
    /// A value; a map is a dict.
    Plain(&'a Value),
    /// A map whose entries are attributes.
    Attributes(&'a Value),
}

impl Argument<'_> {
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Returns the language over the questions of `vocabulary`.
    ///
    /// # Errors
    ///
    /// A problem when the vocabulary holds names that are none.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Result<Self, Problem> {
        let globals = |with: fn(&mut GlobalsBuilder)| {
            GlobalsBuilder::extended_by(&[LibraryExtension::StructType]).with(library::onstage).with(with).build()
        };
        let hidden = GlobalsBuilder::extended_by(&[LibraryExtension::StructType, LibraryExtension::Print])
            .with(library::backstage)
            .with(library::bounded)
            .build();
        let source = format!("_hand = print\n_range = range\n{}{RANGE}", vocabulary.prelude());
        let prelude = compile(PRELUDE_NAME, &source, &hidden, None).map_err(|failure| {
            Problem::of_file("script/prelude", PRELUDE_NAME, failure.message, "name services and verbs by plain words")
        })?;
        Ok(Self { globals: globals(|_| {}), prelude })
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
        let module = compile(file, text, &self.globals, Some(&self.prelude)).map_err(|failure| {
            let place = Place { line: failure.line, column: 1 };
            Problem::of_file("script/fault", file, failure.message, "correct the script at this line").at(place, text)
        })?;
        Ok(Program { file: file.into(), module })
    }
}

/// Bounded `range`, for scripts; the prelude itself keeps Starlark's.
const RANGE: &str = r"
def range(*args):
    _within_range(*args)
    return _range(*args)
";

impl Program {
    /// Returns the name of the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the names of the script's functions, sorted.
    pub(crate) fn functions(&self) -> Vec<&str> {
        let is_function = |name: &str| self.module.get(name).is_ok_and(|value| value.value().get_type() == "function");
        let mut names: Vec<&str> =
            self.module.names().map(|name| name.as_str()).filter(|name| is_function(name)).collect();
        names.sort_unstable();
        names
    }

    /// Calls `function` with `arguments` before `stage`.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the line at which it failed.
    pub(crate) fn call(&self, function: &str, arguments: &[Argument<'_>], stage: &dyn Stage) -> Result<Value, Failure> {
        let meter = Meter::default();
        guarded(&self.file, &meter, || {
            Module::with_temp_heap(|module| {
                let function = self.module.get(function).map_err(|error| library::refuse(error.to_string()))?;
                let function = module.heap().access_owned_frozen_value(&function);
                let arguments: Vec<StarValue<'_>> =
                    arguments.iter().map(|argument| argument.place(module.heap())).collect();
                let desk = Desk { module: &module, stage };
                let mut evaluator = Evaluator::new(&module);
                evaluator.set_print_handler(&desk);
                meter.watch(&mut evaluator)?;
                let answer = evaluator.eval_function(function, &arguments, &[])?;
                from_starlark(answer).map_err(library::refuse)
            })
        })
    }
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
            ast.replace_binary_operators(&[("*".to_owned(), "_times".to_owned())].into_iter().collect());
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
