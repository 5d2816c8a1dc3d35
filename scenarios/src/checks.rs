//! The checks of a scenario as the kernel evaluates them.

use std::sync::Arc;

use dayshift_engine::{CheckSpec, Checks, Scene, ScriptError, SmolStr, Value, World};

use crate::language::Program;
use crate::stage::{House, OpenStage};

/// Checks written in Starlark.
pub struct StarlarkChecks {
    pub(crate) house: Arc<House>,
    pub(crate) program: Arc<Program>,
    pub(crate) specs: Vec<CheckSpec>,
    /// By check: its function.
    pub(crate) functions: Vec<SmolStr>,
    pub(crate) threshold: f64,
    /// Whether a function asks what has changed.
    pub(crate) asks_for_changes: bool,
}

impl<W: World> Checks<W> for StarlarkChecks {
    fn specs(&self) -> &[CheckSpec] {
        &self.specs
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn asks_for_changes(&self) -> bool {
        self.asks_for_changes
    }

    fn level(&self, index: usize, scene: &Scene<'_, W>) -> Result<f64, ScriptError> {
        let fault = |message: String| ScriptError { name: self.specs[index].id.to_string(), message };
        let stage = OpenStage { house: &self.house, scene };
        let function = &self.functions[index];
        let answer = self.program.call(function, &[], &stage).map_err(|failure| fault(failure.to_string()))?;
        let level = match &answer {
            Value::Bool(holds) => Some(f64::from(u8::from(*holds))),
            Value::Int(_) | Value::Float(_) => answer.as_float().filter(|level| (0.0..=1.0).contains(level)),
            Value::Null | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        };
        level.ok_or_else(|| {
            let file = self.program.file();
            fault(format!("{file}: '{function}' returned {answer}; return True, False or a number from 0 to 1"))
        })
    }
}
