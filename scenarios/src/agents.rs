//! Agents that need no model, and the loop that feeds an agent's inputs to an episode.

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{Day, Episode, EpisodeError, Input, SimTime, SmolStr, Step, ToolCall, Value, World, template};

use crate::solution::{Solution, SolutionTurn};

/// What an agent knows when it is asked for its next input.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// The day, from 1.
    pub day: Day,
    /// The day's name.
    pub day_name: &'a str,
    /// The simulated time.
    pub time: SimTime,
    /// What came of the last input; at first, of the opening.
    pub last: &'a Step,
}

/// Somebody who works through an episode.
pub trait Agent {
    /// Returns the next input.
    ///
    /// # Errors
    ///
    /// [`AgentError`] when the agent cannot go on.
    fn act(&mut self, observation: &Observation<'_>) -> Result<Input, AgentError>;
}

/// Why an agent cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct AgentError {
    /// The solution's file.
    pub file: SmolStr,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong and what to do instead.
    pub message: String,
}

/// Why a run stopped before the episode ended.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The episode cannot go on.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// The agent cannot go on.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// Whoever watched the run stopped it.
    #[error("{0}")]
    Stopped(E),
}

/// An agent that hands over each day at once: what it scores, nobody earned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noop;

/// An agent that does what a [`Solution`] says. A day that the solution leaves out, or whose turns are over, is handed over.
#[derive(Clone, Debug)]
pub struct Scripted {
    solution: Arc<Solution>,
    day: Day,
    turn: usize,
    /// How many inputs of the turn were made: first what is said, then the calls, then the handing over.
    done: usize,
    answers: BTreeMap<SmolStr, Value>,
    awaited: Option<SmolStr>,
    refused: BTreeMap<SmolStr, String>,
}

/// Feeds the agent's inputs to `episode` until it ends. `watch` sees every step once it is in the log, and can stop the run.
///
/// # Errors
///
/// [`RunError`]; the log holds everything up to there.
pub fn run<W: World, E>(
    episode: &mut Episode<W>,
    opening: Step,
    agent: &mut dyn Agent,
    mut watch: impl FnMut(&Episode<W>, &Input, &Step) -> Result<(), E>,
) -> Result<(), RunError<E>> {
    let mut last = opening;
    while !episode.is_closed() {
        let day = episode.day();
        let index = (day.get() as usize).saturating_sub(1);
        let day_name = episode.script().plan().days.get(index).map(|day| day.name.clone()).unwrap_or_default();
        let observation = Observation { day, day_name: &day_name, time: episode.now(), last: &last };
        let input = agent.act(&observation)?;
        last = episode.input(input.clone())?;
        watch(episode, &input, &last).map_err(RunError::Stopped)?;
    }
    Ok(())
}

impl Agent for Noop {
    fn act(&mut self, _observation: &Observation<'_>) -> Result<Input, AgentError> {
        Ok(Input::HandOver { text: String::new() })
    }
}

impl Scripted {
    /// Returns the agent that follows `solution`.
    #[must_use]
    pub fn new(solution: Arc<Solution>) -> Self {
        Self {
            solution,
            day: Day::default(),
            turn: 0,
            done: 0,
            answers: BTreeMap::new(),
            awaited: None,
            refused: BTreeMap::new(),
        }
    }

    /// Returns the agent as it stands, going on with `solution`, which has everything in common with its own that was done so far.
    #[must_use]
    pub fn turned_to(self, solution: Arc<Solution>) -> Self {
        Self { solution, ..self }
    }

    fn keep_answer(&mut self, last: &Step) {
        let Some(name) = self.awaited.take() else { return };
        match &last.answer {
            Ok(answer) => {
                self.refused.remove(&name);
                self.answers.insert(name, answer.clone());
            }
            Err(rejection) => {
                self.answers.remove(&name);
                self.refused.insert(name, rejection.to_string());
            }
        }
    }

    /// Returns the next input of `turn`, if there is one left.
    fn next_of(&mut self, turn: &SolutionTurn) -> Result<Option<Input>, AgentError> {
        let mut step = self.done;
        self.done += 1;
        if let Some(text) = &turn.say {
            if step == 0 {
                return Ok(Some(Input::Turn { text: text.clone() }));
            }
            step -= 1;
        }
        if let Some(call) = turn.calls.get(step) {
            let mut arguments = call.arguments.clone();
            template::fill(&mut arguments, &|reference| find(&self.answers, reference))
                .map_err(|reference| self.lost(call.line, &reference))?;
            self.awaited.clone_from(&call.answer_name);
            return Ok(Some(Input::Call(ToolCall::new(call.tool.clone(), arguments))));
        }
        if step == turn.calls.len()
            && let Some(text) = &turn.hand_over
        {
            return Ok(Some(Input::HandOver { text: text.clone() }));
        }
        Ok(None)
    }

    fn lost(&self, line: u32, reference: &str) -> AgentError {
        let name = reference.split('.').next().unwrap_or_default();
        let why = match self.refused.get(name) {
            Some(refusal) => format!("that call was refused: {refusal}"),
            None if self.answers.contains_key(name) => "its answer has no such field".to_owned(),
            None => "no earlier call has 'as' with this name".to_owned(),
        };
        let message = format!("'{{{{{reference}}}}}' leads nowhere; {why}");
        AgentError { file: self.solution.file.clone(), line, message }
    }
}

impl Agent for Scripted {
    fn act(&mut self, observation: &Observation<'_>) -> Result<Input, AgentError> {
        self.keep_answer(observation.last);
        if observation.day != self.day {
            (self.day, self.turn, self.done) = (observation.day, 0, 0);
        }
        let solution = Arc::clone(&self.solution);
        let turns = solution.days.iter().find(|(name, _)| name == observation.day_name).map(|(_, turns)| turns);
        while let Some(turn) = turns.and_then(|turns| turns.get(self.turn)) {
            if let Some(input) = self.next_of(turn)? {
                return Ok(input);
            }
            self.turn += 1;
            self.done = 0;
        }
        Ok(Input::HandOver { text: String::new() })
    }
}

/// Follows `NAME.field.0.field` through the answers.
fn find(answers: &BTreeMap<SmolStr, Value>, reference: &str) -> Option<Value> {
    let mut parts = reference.split('.');
    let mut value = answers.get(parts.next()?)?;
    for part in parts {
        value = match value {
            Value::List(items) => items.get(part.parse::<usize>().ok()?)?,
            Value::Map(map) => map.get(part)?,
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => return None,
        };
    }
    Some(value.clone())
}
