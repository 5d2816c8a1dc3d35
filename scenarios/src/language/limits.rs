//! How much a script may do. All limits count what the script does and never time, so that they fall at the same place on every machine.

use std::cell::Cell;
use std::rc::Rc;

use starlark::codemap::FileSpanRef;
use starlark::eval::{BeforeStmtFunc, BeforeStmtFuncDyn, Evaluator};

use super::library::refuse;

/// How many statements one evaluation may carry out.
pub const STATEMENTS_MAX: u64 = 1_000_000;

/// How many calls and turns of loops one evaluation may carry out, those of comprehensions included.
pub const TICKS_MAX: u64 = 1_000_000;

/// How much memory one evaluation may take, in bytes (64 MiB).
pub const HEAP_BYTES_MAX: usize = 64 << 20;

/// How much work the functions and methods of one evaluation may be, in bytes that are touched and values that are looked at.
pub const SCRIPT_WORK_MAX: u64 = 200_000_000;

/// How many parts a value may have to be shown. What is shared counts wherever it stands.
pub(super) const PARTS_MAX: usize = 1_000_000;

/// How deep functions may call one another.
pub const CALL_DEPTH_MAX: usize = 64;

/// How much stack an evaluation gets, in bytes (256 MiB, of which untouched pages cost nothing): the interpreter recurses over nested data,
/// whose depth only the heap bounds.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// Counts statements, looks at the heap before each one, and remembers where it was: the interpreter's own checks come too rarely for a
/// text that doubles, and do not say where.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    state: Rc<MeterState>,
}

#[derive(Debug, Default)]
struct MeterState {
    statements: Cell<u64>,
    line: Cell<u32>,
}

thread_local! {
    /// How much work the evaluation that is under way on this thread may still do: native functions get no context that could hold it.
    static WORK_LEFT: Cell<u64> = const { Cell::new(0) };
}

/// Draws on the work that the evaluation under way may do. Call it before the work is done.
pub(super) fn work(units: usize) -> starlark::Result<()> {
    WORK_LEFT.with(|left| {
        let rest = left.get().checked_sub(units as u64);
        left.set(rest.unwrap_or(0));
        rest.map(drop).ok_or_else(too_much_work)
    })
}

impl Meter {
    /// Returns the line of the last statement in the script, from 1; 0 if there was none.
    pub(super) fn line(&self) -> u32 {
        self.state.line.get()
    }

    /// Notes that what comes next concerns `line`.
    pub(super) fn stand_at(&self, line: u32) {
        self.state.line.set(line);
    }

    /// Sets all limits of `evaluator`. Must come before it compiles or calls anything.
    pub(super) fn watch(&self, evaluator: &mut Evaluator<'_, '_, '_>) -> starlark::Result<()> {
        evaluator.set_max_tick_count(TICKS_MAX).map_err(|error| refuse(error.to_string()))?;
        evaluator.set_max_heap_size(HEAP_BYTES_MAX).map_err(|error| refuse(error.to_string()))?;
        evaluator.set_max_callstack_size(CALL_DEPTH_MAX).map_err(|error| refuse(error.to_string()))?;
        WORK_LEFT.with(|left| left.set(SCRIPT_WORK_MAX));
        evaluator.before_stmt_for_dap(BeforeStmtFunc::from_dyn(Box::new(self.clone())));
        Ok(())
    }
}

impl<'e> BeforeStmtFuncDyn<'e> for Meter {
    fn call<'v>(
        &mut self,
        span: FileSpanRef<'_>,
        _continued: bool,
        evaluator: &mut Evaluator<'v, '_, 'e>,
    ) -> starlark::Result<()> {
        if span.file.filename() != super::program::PRELUDE_NAME {
            let line = span.file.find_line(span.span.begin()) + 1;
            self.state.line.set(u32::try_from(line).unwrap_or(u32::MAX));
        }
        let statements = self.state.statements.get() + 1;
        self.state.statements.set(statements);
        if statements > STATEMENTS_MAX {
            return Err(too_long());
        }
        if evaluator.heap().allocated_bytes() > HEAP_BYTES_MAX {
            return Err(too_large());
        }
        Ok(())
    }
}

/// Returns the refusal of a script that does not end.
pub(super) fn too_long() -> starlark::Error {
    refuse(format!(
        "it does more than {STATEMENTS_MAX} steps; let it end sooner: loop over less, or ask a narrower question"
    ))
}

fn too_much_work() -> starlark::Error {
    refuse(format!(
        "its functions and methods are more than {SCRIPT_WORK_MAX} units of work; search less text, or fewer items, less often"
    ))
}

/// Returns the refusal of a script that takes too much memory.
pub(super) fn too_large() -> starlark::Error {
    refuse(format!("it takes more than {HEAP_BYTES_MAX} bytes of memory; keep less at once"))
}
