//! Grading: folds a log, follows every check through it, and reports verdicts with their evidence. Verdicts are derived and never stored
//! in the log, so that one log can be graded by several versions of the checks.
//!
//! Checks are evaluated where a segment (a maximal run of records with one actor and turn; a reaction has the turn that set it off) ends, and only those of which the segment
//! wrote a key that their last evaluation read. A check that counts at the end of a day is followed from the beginning and frozen when the
//! day is handed over, so that work done early is credited to the turns that did it. A constraint starts at 1 and can only fall.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dayshift_engine::{
    Actor, CLOCK_KEY, Changes, CheckSpec, Checks, Day, Episode, EpisodeError, Frame, Head, Key, Moment, Read, ReadKind,
    RecordHead, Request, Scene, Seq, SimTime, SmolStr, Turn, World, changes_keys,
};

use crate::ReplayError;
use crate::credit::Owners;

/// What grading found in one log.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where the log ends: the history that was graded.
    pub head: Head,
    /// The agent's turns.
    pub turns: u32,
    /// The verdicts, in the author's order.
    pub verdicts: Vec<Verdict>,
    /// The weighted share of levels before red lines cap it, in [0, 1].
    pub uncapped: f64,
    /// The score, in [0, 1].
    pub score: f64,
    /// The score at the beginning of the episode, before anybody did anything.
    pub start: f64,
    /// The weighted share of levels of the checks of each day, by the day's index from 0.
    pub days: BTreeMap<usize, f64>,
    /// Whether the score reaches the scenario's threshold.
    pub passed: bool,
    /// Whether every check stands at its full level and no red line was crossed.
    pub strict: bool,
    /// Whether the episode came to its end; the verdicts of an unfinished one are provisional.
    pub finished: bool,
    /// How the levels moved, in log order.
    pub moves: Vec<Move>,
    /// The red lines that were crossed, in log order.
    pub crossings: Vec<CrossedLine>,
    /// The record at which the episode opened; what is before it depends on the scenario alone.
    pub opened: Seq,
    /// How many times a check was evaluated.
    pub evaluations: u64,
}

/// One check's result at the end of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The check.
    pub spec: CheckSpec,
    /// Its share of the score: the weights sum to 1.
    pub weight: f64,
    /// Its level in the initial world, in [0, 1].
    pub start: f64,
    /// Its level at its moment, in [0, 1].
    pub level: f64,
    /// What it read in its last evaluation.
    pub evidence: Vec<Evidence>,
    /// Whether that evaluation read something that no key stands for.
    pub untracked: bool,
    /// Why it could not be evaluated; it then counts as failed.
    pub error: Option<String>,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What was read.
    pub read: Read,
    /// The turn of the record that last wrote it, if the agent did.
    pub turn: Option<Turn>,
}

/// One check's level moved within one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The check, by its index.
    pub check: usize,
    /// The last record of the segment.
    pub at: Seq,
    /// Who acted.
    pub actor: Actor,
    /// The turn that it belongs to: the agent's, or the one that set off a reaction. Nothing if the world acted by itself.
    pub turn: Option<Turn>,
    /// On which day.
    pub day: Day,
    /// The level where the segment began.
    pub before: f64,
    /// The level where the segment ended.
    pub after: f64,
    /// The last writers of the items and memberships that the evaluation read.
    pub roots: Vec<Seq>,
    /// Whether the evaluation read something that no key stands for.
    pub untracked: bool,
}

/// A red line that was crossed.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossedLine {
    /// The check, by its index.
    pub check: usize,
    /// The last record of the segment that crossed it.
    pub at: Seq,
    /// What the score cannot exceed any more.
    pub cap: f64,
}

/// Follows the checks along an episode that is folded or played elsewhere. A clone goes its own way from here.
pub struct Grader<W: World> {
    checks: Arc<dyn Checks<W>>,
    states: Vec<State>,
    watchers: BTreeMap<Key, BTreeSet<usize>>,
    written: BTreeSet<Key>,
    turn_of: BTreeMap<Seq, Turn>,
    owners: Owners,
    /// Kept only for checks that ask for it.
    changes: Option<Changes>,
    /// The checks that are to be evaluated before they count; none unless only the outcome is asked for.
    stale: Option<BTreeSet<usize>>,
    segment: Option<(Actor, Option<Turn>)>,
    last: Seq,
    day: Day,
    day_over: bool,
    looked_at: SimTime,
    opened: Option<Seq>,
    moves: Vec<Move>,
    crossings: Vec<CrossedLine>,
    evaluations: u64,
}

impl<W: World> Clone for Grader<W> {
    fn clone(&self) -> Self {
        Self {
            checks: Arc::clone(&self.checks),
            states: self.states.clone(),
            watchers: self.watchers.clone(),
            written: self.written.clone(),
            turn_of: self.turn_of.clone(),
            owners: self.owners.clone(),
            changes: self.changes.clone(),
            stale: self.stale.clone(),
            segment: self.segment.clone(),
            moves: self.moves.clone(),
            crossings: self.crossings.clone(),
            ..*self
        }
    }
}

/// Where one check stands.
#[derive(Clone, Default)]
struct State {
    start: f64,
    level: f64,
    reads: Vec<Read>,
    untracked: bool,
    error: Option<String>,
    frozen: bool,
}

/// Grades the log that `episode` has absorbed so far by folding its records again from `blank`.
///
/// # Errors
///
/// [`ReplayError::Episode`] when a record does not follow or does not decode.
pub fn grade<W: World>(
    blank: Episode<W>,
    records: &[Arc<[u8]>],
    checks: Arc<dyn Checks<W>>,
) -> Result<Report, ReplayError> {
    let mut grader = Grader::new(checks);
    let mut episode = blank;
    for record in records {
        grader.absorb(&mut episode, Arc::clone(record))?;
    }
    Ok(grader.report(&episode))
}

impl<W: World> Grader<W> {
    /// Returns a grader that has seen nothing.
    #[must_use]
    pub fn new(checks: Arc<dyn Checks<W>>) -> Self {
        let states = checks.specs().iter().map(|_| State::default()).collect();
        let changes = checks.asks_for_changes().then(Changes::default);
        Self {
            checks,
            states,
            watchers: BTreeMap::new(),
            written: BTreeSet::new(),
            turn_of: BTreeMap::new(),
            owners: Owners::default(),
            changes,
            stale: None,
            segment: None,
            last: Seq::default(),
            day: Day::default(),
            day_over: false,
            looked_at: SimTime::default(),
            opened: None,
            moves: Vec::new(),
            crossings: Vec::new(),
            evaluations: 0,
        }
    }

    /// Returns a grader that has seen nothing and is asked for levels and score alone: how they moved in between is not found out. Constraints are
    /// followed all the same, and every other check is evaluated once, when it counts.
    #[must_use]
    pub fn of_outcome(checks: Arc<dyn Checks<W>>) -> Self {
        Self { stale: Some(BTreeSet::new()), ..Self::new(checks) }
    }

    /// Lets `episode` absorb the next record, and evaluates the checks that a segment ending before it concerns.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the record does not follow or does not decode.
    pub fn absorb(&mut self, episode: &mut Episode<W>, record: Arc<[u8]>) -> Result<(), EpisodeError> {
        let stored = dayshift_engine::codec::Stored::new(&record)?;
        let head = stored.head()?;
        let owner = self.owners.next(stored.seq(), &head.actor, head.turn, &head.causes);
        let segment = (head.actor, owner);
        if self.day_over || self.segment.as_ref().is_some_and(|open| *open != segment) {
            self.settle(episode);
        }
        if std::mem::take(&mut self.day_over) {
            self.freeze(episode);
        }
        let before = self.changes.is_some().then(|| episode.world().clone());
        let head = episode.absorb_traced(record)?;
        let is_open = self.opened.is_some();
        self.note(episode, &head, segment);
        if let Some(before) = before.filter(|_| is_open) {
            self.note_changes(&before, episode, &head);
        }
        Ok(())
    }

    /// Evaluates what the open segment concerns: at the end of a log, or for a reward in the middle of one.
    pub fn settle(&mut self, episode: &Episode<W>) {
        if self.opened.is_none() {
            return;
        }
        if episode.now() != self.looked_at {
            self.looked_at = episode.now();
            self.written.insert(Key::new(CLOCK_KEY));
        }
        let concerned: BTreeSet<usize> =
            self.written.iter().filter_map(|key| self.watchers.get(key)).flatten().copied().collect();
        self.written.clear();
        for check in concerned {
            if self.states[check].frozen {
                continue;
            }
            match &mut self.stale {
                Some(stale) if !matches!(self.checks.specs()[check].moment, Moment::Throughout { .. }) => {
                    stale.insert(check);
                }
                Some(_) | None => self.evaluate(episode, check),
            }
        }
    }

    /// Returns the score of what was seen so far: uncapped, and as red lines cap it.
    #[must_use]
    pub fn scores(&self) -> (f64, f64) {
        let uncapped = self.share(|state| state.level);
        let score = self.crossings.iter().fold(uncapped, |score: f64, crossed| score.min(crossed.cap));
        (uncapped, score)
    }

    /// Returns the level of the check at `index` as it was settled last.
    #[must_use]
    pub fn level(&self, index: usize) -> f64 {
        self.states[index].level
    }

    /// Returns the report on what was seen so far.
    #[must_use]
    pub fn report(mut self, episode: &Episode<W>) -> Report {
        self.settle(episode);
        self.freshen(episode, |_| true);
        let weights = self.weights();
        let (uncapped, score) = self.scores();
        let start = self.share(|state| state.start);
        let specs = self.checks.specs();
        let mut days: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for ((spec, weight), state) in specs.iter().zip(&weights).zip(&self.states) {
            if let Moment::EndOfDay(day) = spec.moment {
                let (share, total) = days.entry(day).or_default();
                *share += weight * state.level;
                *total += weight;
            }
        }
        let turn_of = &self.turn_of;
        let evidence = |read: &Read| Evidence { read: read.clone(), turn: turn_of.get(&read.written).copied() };
        let verdicts: Vec<Verdict> = specs
            .iter()
            .zip(&weights)
            .zip(&self.states)
            .map(|((spec, weight), state)| Verdict {
                spec: spec.clone(),
                weight: *weight,
                start: state.start,
                level: state.level,
                evidence: state.reads.iter().map(evidence).collect(),
                untracked: state.untracked,
                error: state.error.clone(),
            })
            .collect();
        Report {
            head: episode.log().head(),
            turns: episode.turn().get(),
            uncapped,
            score,
            start,
            days: days
                .into_iter()
                .filter(|(_, (_, total))| *total > 0.0)
                .map(|(day, (share, total))| (day, share / total))
                .collect(),
            passed: score >= self.checks.threshold(),
            strict: verdicts.iter().all(|verdict| verdict.level >= 1.0) && self.crossings.is_empty(),
            finished: episode.is_closed(),
            verdicts,
            moves: self.moves,
            crossings: self.crossings,
            opened: self.opened.unwrap_or_default(),
            evaluations: self.evaluations,
        }
    }

    fn note(&mut self, episode: &Episode<W>, head: &RecordHead, segment: (Actor, Option<Turn>)) {
        self.last = Seq::new(episode.log().head().count - 1);
        self.day = head.day;
        self.day_over = head.request.ends_day();
        if let Some(turn) = head.turn {
            self.turn_of.insert(self.last, turn);
        }
        self.segment = Some(segment);
        if self.opened.is_some() {
            self.written.extend(episode.last_writes().iter().cloned());
        } else if matches!(head.request, Request::Open { .. }) {
            self.open(episode);
        }
    }

    /// Notes what the record that was just absorbed changed in the graded state. Most records change nothing, which their keys or the digest tell.
    fn note_changes(&mut self, before: &W, episode: &Episode<W>, head: &RecordHead) {
        let Some(changes) = &mut self.changes else { return };
        if !episode.last_writes().is_empty() && before.digest() != episode.world().digest() {
            changes.note(self.last, (&head.actor, head.turn, head.day), before.differences(episode.world()));
            self.written.extend(changes_keys(&head.actor));
        }
        if head.request.ends_day() {
            changes.end_day(head.day, self.last);
        }
    }

    /// Looks at every check for the first time: the levels of the initial world.
    fn open(&mut self, episode: &Episode<W>) {
        self.opened = Some(self.last);
        self.looked_at = episode.now();
        for check in 0..self.states.len() {
            let constraint = matches!(self.checks.specs()[check].moment, Moment::Throughout { .. });
            let level = self.look(episode, check);
            let state = &mut self.states[check];
            state.start = if constraint { 1.0 } else { level };
            state.level = state.start;
            if constraint && level < 1.0 {
                self.arrive(check, level);
            }
        }
    }

    fn evaluate(&mut self, episode: &Episode<W>, check: usize) {
        let level = self.look(episode, check);
        self.arrive(check, level);
    }

    /// Evaluates a check and keeps what it read.
    fn look(&mut self, episode: &Episode<W>, check: usize) -> f64 {
        self.evaluations += 1;
        let frame = Frame::new();
        let scene = Scene { changes: self.changes.as_ref(), ..episode.scene(&frame) };
        let result = self.checks.level(check, &scene);
        let accesses = frame.close();
        let state = &mut self.states[check];
        for read in std::mem::replace(&mut state.reads, accesses.reads) {
            if let Some(watchers) = self.watchers.get_mut(&read.key) {
                watchers.remove(&check);
            }
        }
        for read in &state.reads {
            self.watchers.entry(read.key.clone()).or_default().insert(check);
        }
        state.untracked = accesses.untracked;
        state.error = result.as_ref().err().map(ToString::to_string);
        result.unwrap_or_default().clamp(0.0, 1.0)
    }

    /// Takes a check to `level`, if that is a move.
    fn arrive(&mut self, check: usize, level: f64) {
        let moment = self.checks.specs()[check].moment;
        let state = &mut self.states[check];
        let before = state.level;
        let after = if matches!(moment, Moment::Throughout { .. }) { before.min(level) } else { level };
        if after == before {
            return;
        }
        state.level = after;
        let precise = state.reads.iter().filter(|read| read.kind != ReadKind::Scan).map(|read| read.written);
        let roots: BTreeSet<Seq> = precise.filter(|seq| seq.get() > 0).collect();
        let (actor, turn) = self.segment.clone().unwrap_or((Actor::Scenario, None));
        self.moves.push(Move {
            check,
            at: self.last,
            actor,
            turn,
            day: self.day,
            before,
            after,
            roots: roots.into_iter().collect(),
            untracked: state.untracked,
        });
        if let Moment::Throughout { cap: Some(cap) } = moment
            && before >= 1.0
        {
            self.crossings.push(CrossedLine { check, at: self.last, cap });
        }
    }

    /// Freezes the checks of the day that was handed over, and of those before it. What happens overnight does not count for them.
    fn freeze(&mut self, episode: &Episode<W>) {
        let over = (self.day.get() as usize).checked_sub(1);
        self.freshen(episode, |moment| matches!(moment, Moment::EndOfDay(of) if over.is_some_and(|over| of <= over)));
        for (spec, state) in self.checks.specs().iter().zip(&mut self.states) {
            if let Moment::EndOfDay(of) = spec.moment {
                state.frozen |= over.is_some_and(|over| of <= over);
            }
        }
    }

    /// Evaluates the stale checks that count now.
    fn freshen(&mut self, episode: &Episode<W>, counts: impl Fn(Moment) -> bool) {
        let Some(stale) = &mut self.stale else { return };
        let specs = self.checks.specs();
        let due: Vec<usize> = stale.iter().copied().filter(|check| counts(specs[*check].moment)).collect();
        for check in &due {
            stale.remove(check);
        }
        for check in due {
            if !self.states[check].frozen {
                self.evaluate(episode, check);
            }
        }
    }

    /// Returns the weighted share of a level: divided once at the end, so that full levels everywhere give exactly 1.
    fn share(&self, level: impl Fn(&State) -> f64) -> f64 {
        let specs = self.checks.specs();
        let total: f64 = specs.iter().map(|spec| spec.weight).sum();
        let reached: f64 = specs.iter().zip(&self.states).map(|(spec, state)| spec.weight * level(state)).sum();
        if total > 0.0 { reached / total } else { 0.0 }
    }

    fn weights(&self) -> Vec<f64> {
        let total: f64 = self.checks.specs().iter().map(|spec| spec.weight).sum();
        let scale = if total > 0.0 { total } else { 1.0 };
        self.checks.specs().iter().map(|spec| spec.weight / scale).collect()
    }
}

/// Returns the name of a check's moment for people, with the names of the days.
#[must_use]
pub fn moment_name(moment: Moment, days: &[SmolStr]) -> String {
    match moment {
        Moment::EndOfDay(day) => {
            days.get(day).map_or_else(|| format!("end of day {}", day + 1), |name| format!("end of {name}"))
        }
        Moment::Final => "final".to_owned(),
        Moment::Throughout { cap: None } => "throughout".to_owned(),
        Moment::Throughout { cap: Some(cap) } => format!("red line (cap {cap})"),
    }
}
