//! The timeline, the conditions and the people of a scenario as the kernel runs them.

use std::cell::RefCell;
use std::sync::Arc;

use dayshift_engine::{Plan, Reaction, Scene, Script, ScriptError, SmolStr, ToolCall, Value, World, map};

use crate::language::{Argument, Program};
use crate::stage::{House, OpenStage, PersonaStage, Viewer};
use crate::times::parse_duration;

/// How many calls a persona may make at one look.
pub const REACTION_CALLS_MAX: usize = 100;

/// A timeline whose conditions and personas are written in Starlark.
pub struct ScenarioScript {
    pub(crate) house: Arc<House>,
    pub(crate) plan: Plan,
    pub(crate) program: Arc<Program>,
    /// By event: the function of its condition, if it has one.
    pub(crate) conditions: Vec<Option<SmolStr>>,
    /// By persona.
    pub(crate) personas: Vec<PersonaScript>,
}

/// One persona's script.
pub(crate) struct PersonaScript {
    pub(crate) program: Arc<Program>,
    pub(crate) function: SmolStr,
    pub(crate) viewer: Viewer,
    /// What the script knows of itself.
    pub(crate) me: Value,
}

impl<W: World> Script<W> for ScenarioScript {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn holds(&self, index: usize, scene: &Scene<'_, W>) -> Result<bool, ScriptError> {
        let fault = |message| ScriptError { name: self.plan.events[index].id.to_string(), message };
        let Some(function) = &self.conditions[index] else { return Ok(false) };
        let stage = OpenStage { house: &self.house, scene };
        let answer = self.program.call(function, &[], &stage).map_err(|failure| fault(failure.to_string()))?;
        answer.as_bool().ok_or_else(|| {
            let file = self.program.file();
            fault(format!("{file}: the condition '{function}' returned {answer}; return True or False"))
        })
    }

    fn react(&self, index: usize, memory: &Value, scene: &Scene<'_, W>) -> Result<Reaction, ScriptError> {
        let persona = &self.personas[index];
        let fault = |message| ScriptError { name: persona.viewer.name.to_string(), message };
        let marks = memory.get("seen").and_then(Value::as_map).cloned().unwrap_or_default();
        let own = memory.get("own").cloned().unwrap_or_else(|| map! {});
        let open = OpenStage { house: &self.house, scene };
        let stage = PersonaStage { open, viewer: &persona.viewer, marks: RefCell::new(marks) };
        let arguments = [Argument::Attributes(&persona.me), Argument::Plain(&own)];
        let answer = persona
            .program
            .call(&persona.function, &arguments, &stage)
            .map_err(|failure| fault(failure.to_string()))?;
        let mut reaction = read_reaction(&answer, own).map_err(|message| {
            let (file, function) = (persona.program.file(), &persona.function);
            fault(format!("{file}: '{function}' {message}"))
        })?;
        reaction.memory = map! { "own" => reaction.memory, "seen" => Value::Map(stage.marks.into_inner()) };
        Ok(reaction)
    }
}

/// Reads what a persona's function returned; `None` means that nothing happens and nothing is forgotten.
fn read_reaction(answer: &Value, own: Value) -> Result<Reaction, String> {
    let map = match answer {
        Value::Null => return Ok(Reaction { memory: own, ..Reaction::default() }),
        Value::Map(map) if map.keys().all(|key| ["memory", "do", "wake"].contains(&key.as_str())) => map,
        _ => return Err(format!("returned {answer}; return reaction(memory = …, do = […], wake = …)")),
    };
    let mut commands = Vec::new();
    for item in map.get("do").and_then(Value::as_list).unwrap_or_default() {
        let (Some(tool), Some(arguments)) = (item.get("tool").and_then(Value::as_text), item.get("arguments")) else {
            return Err(format!("does {item}; write call(\"service.verb\", argument = …)"));
        };
        commands.push(ToolCall::new(tool, arguments.clone()));
    }
    if commands.len() > REACTION_CALLS_MAX {
        return Err(format!("does {} things at once; do at most {REACTION_CALLS_MAX}", commands.len()));
    }
    let wake = match map.get("wake") {
        None | Some(Value::Null) => None,
        Some(wake) => Some(parse_duration(wake.as_text().unwrap_or_default())?),
    };
    let memory = map.get("memory").filter(|memory| **memory != Value::Null).cloned().unwrap_or(own);
    Ok(Reaction { memory, commands, wake })
}
