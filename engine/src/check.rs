//! Checks: named, weighted, deterministic tests of a scene. Which language they are written in is not the kernel's business.

use smol_str::SmolStr;

use crate::script::{Scene, ScriptError};
use crate::world::World;

/// The checks of a scenario.
pub trait Checks<W: World>: Send + Sync {
    /// Returns the checks, in the author's order.
    fn specs(&self) -> &[CheckSpec];

    /// Returns the score from which on an episode passes, in [0, 1].
    fn threshold(&self) -> f64;

    /// Returns whether any check asks what has changed and through whom. Only then is [`crate::Changes`] kept while a log is graded.
    fn asks_for_changes(&self) -> bool {
        false
    }

    /// Evaluates the check at `index` in `scene`: its level in [0, 1]. Everything it reads is noted in the scene's frame.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] when the check cannot be evaluated.
    fn level(&self, index: usize, scene: &Scene<'_, W>) -> Result<f64, ScriptError>;
}

/// What is known of a check without evaluating it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSpec {
    /// The name, unique in the scenario.
    pub id: SmolStr,
    /// What it tests, in one sentence.
    pub title: String,
    /// Its share before normalisation, at least 0.
    pub weight: f64,
    /// The requirement that it covers.
    pub requirement: SmolStr,
    /// When it counts.
    pub moment: Moment,
}

/// When a check counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// At the end of the day at this index: followed from its opening on, frozen when it ends.
    EndOfDay(usize),
    /// At the end of the episode.
    Final,
    /// Throughout: it starts at 1 and can only fall.
    Throughout {
        /// For a red line: what the score is capped at once it is crossed, in [0, 1].
        cap: Option<f64>,
    },
}
