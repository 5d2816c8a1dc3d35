//! What follows from a change: which formulas it reaches, in which order they are computed, and what they come to. Runs while a call is
//! decided, on a fork of the workbook; its results go into the events, so that `apply` and replay never compute.
//!
//! The order of computing never shows: it follows from what reads what, ties are broken by place, and a formula that depends on itself is an
//! error value.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Offset;
use dayshift_engine::{Applying, Canonical, Context, Frame, OverBudget, Rejection, SmolStr};

use super::a1::{Area, CellRef};
use super::cell::{Cell, CellError, CellValue, Input, Precedent};
use super::event::{CellWritten, SheetsEvent};
use super::formula::{Formula, Outcome, Surroundings, rename_worksheet};
use super::index::FormulaAt;
use super::insert::Insertion;
use super::locate::same_name;
use super::state::{Book, SheetsState, cells_in};
use crate::service::Desk;

/// How often formulas with computed references (`INDIRECT`, `OFFSET`) may turn out to read more than was known.
const PASSES_MAX: usize = 8;

impl SheetsState {
    /// Returns `events`, which change the workbook `book`, and what follows from them for its formulas.
    ///
    /// # Errors
    ///
    /// `sheets/bad-formula` when a formula in them cannot be read, `sheets/too-expensive` when computing takes too much.
    pub(super) fn settle(
        &self,
        name: &SmolStr,
        book: &Book,
        mut events: Vec<SheetsEvent>,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Vec<SheetsEvent>, Rejection> {
        if book.formulas.is_empty() && !events.iter().any(enters_formula) {
            return Ok(events);
        }
        let mut work = Work::new(book, desk, context);
        for event in &mut events {
            work.read_formulas(event)?;
            work.take(event.clone());
        }
        work.base = Some(work.after.clone());
        work.reach();
        work.compute().map_err(too_expensive)?;
        work.note(context.frame);
        let mut computed = work.results();
        for event in &mut events {
            merge(event, &mut computed);
        }
        events.extend(computed.into_iter().map(|(worksheet, cells)| SheetsEvent::CellsWritten {
            book: name.clone(),
            worksheet,
            cells: cells.into_values().collect(),
        }));
        Ok(events)
    }
}

/// A fork of a workbook on which a change is tried, and what is known of it so far.
struct Work<'a> {
    before: &'a Book,
    after: Book,
    /// The fork with all that the call itself says, before anything was computed.
    base: Option<Book>,
    /// Rows that the call puts in between.
    inserted: Option<(SmolStr, Insertion)>,
    surroundings: Surroundings<'a>,
    context: &'a Context<'a>,
    /// The cells that the call itself changes.
    changed: BTreeSet<FormulaAt>,
    /// The formulas that have to be computed, with what they read.
    affected: BTreeMap<FormulaAt, Task>,
}

struct Task {
    text: SmolStr,
    /// Nothing for a formula that cannot be read: an import keeps it and what it came to elsewhere.
    formula: Option<Formula>,
    reads: BTreeSet<Precedent>,
    outcome: Option<Outcome>,
}

impl<'a> Work<'a> {
    fn new(book: &'a Book, desk: &Desk, context: &'a Context<'a>) -> Self {
        let now = context.time.to_chrono();
        let offset = now.with_timezone(&desk.zone).offset().fix().local_minus_utc();
        let seed = context.stream("sheets/random").next_u64();
        Self {
            before: book,
            after: book.for_trial(),
            base: None,
            inserted: None,
            surroundings: Surroundings::new(now, offset, seed, context.budget()),
            context,
            changed: BTreeSet::new(),
            affected: BTreeMap::new(),
        }
    }

    /// Reads the formulas that an event enters, and completes what it says of them. One that brings its value with it is kept as it is.
    fn read_formulas(&mut self, event: &mut SheetsEvent) -> Result<(), Rejection> {
        let SheetsEvent::CellsWritten { worksheet, cells, .. } = event else { return Ok(()) };
        for cell in cells {
            let Some(Input::Formula { text, reads, volatile }) = &mut cell.input else { continue };
            match Formula::read(text) {
                Ok(formula) => {
                    *reads = formula.names(worksheet, &self.after).into_iter().collect();
                    *volatile = formula.volatile;
                }
                Err(_) if cell.value != CellValue::Empty => continue,
                Err(message) => {
                    return Err(Rejection::new(
                        "sheets/bad-formula",
                        format!(
                            "the formula for {} cannot be read: {message}; correct it, or put an apostrophe in front to keep it as text",
                            cell.at
                        ),
                    ));
                }
            }
            if cell.value == CellValue::Empty {
                self.add(FormulaAt { worksheet: worksheet.clone(), at: cell.at }, text);
            }
        }
        Ok(())
    }

    /// Applies an event to the fork, and remembers what it changes.
    fn take(&mut self, event: SheetsEvent) {
        match &event {
            SheetsEvent::CellsWritten { worksheet, cells, .. } => {
                self.changed.extend(cells.iter().map(|cell| FormulaAt { worksheet: worksheet.clone(), at: cell.at }));
            }
            SheetsEvent::CellsCleared { worksheet, area, .. } => self.change_area(worksheet, *area),
            SheetsEvent::WorksheetDeleted { worksheet, .. } => {
                self.change_area(worksheet, Area::WHOLE);
                self.add_mentioning(worksheet);
            }
            SheetsEvent::WorksheetAdded { worksheet, .. } => self.add_mentioning(worksheet),
            SheetsEvent::RowsInserted { worksheet, at, count, .. } => {
                self.inserted = Some((worksheet.clone(), Insertion { at: *at, count: *count }));
            }
            SheetsEvent::WorksheetRenamed { .. }
            | SheetsEvent::BookCreated { .. }
            | SheetsEvent::BookImported { .. }
            | SheetsEvent::CellsMerged { .. }
            | SheetsEvent::RangeNamed { .. } => {}
        }
        let is_insertion = matches!(event, SheetsEvent::RowsInserted { .. });
        let mut canonical = Canonical::default();
        let mut applying = Applying::new(self.context.seq, self.context.time, self.context.actor, None, &mut canonical);
        let renamed = if let SheetsEvent::WorksheetRenamed { worksheet, to, .. } = &event {
            Some((worksheet.clone(), to.clone()))
        } else {
            None
        };
        self.after.fold(event, &mut applying);
        if let Some((from, to)) = renamed {
            self.rename(&from, &to);
        }
        if is_insertion {
            self.follow();
        }
    }

    fn change_area(&mut self, worksheet: &SmolStr, area: Area) {
        if let Some(cells) = self.after.cells.get(worksheet) {
            let inside = cells_in(cells, area).map(|(at, _)| FormulaAt { worksheet: worksheet.clone(), at });
            self.changed.extend(inside);
        }
    }

    /// Adds the formulas that name a worksheet which comes or goes.
    fn add_mentioning(&mut self, worksheet: &SmolStr) {
        let found = self.after.formulas.mentioning(|name| same_name(name, worksheet));
        for at in found.into_iter().filter(|at| at.worksheet != *worksheet) {
            self.add_standing(&at);
        }
    }

    /// Rewrites the formulas that name a worksheet by its old name.
    fn rename(&mut self, from: &SmolStr, to: &SmolStr) {
        // Formulas of other worksheets still know it by its old name.
        let mut found = self.after.formulas.mentioning(|name| same_name(name, from) || same_name(name, to));
        found.extend(self.after.formulas.unread().cloned());
        for at in found {
            let text = self.after.peek(&at.worksheet, at.at).and_then(Cell::formula).cloned();
            let Some(renamed) = text.and_then(|text| rename_worksheet(&text, from, to)) else { continue };
            let renamed = SmolStr::from(renamed);
            self.add(at, &renamed);
        }
    }

    /// Lets the formulas follow the cells that the rows in between moved.
    fn follow(&mut self) {
        let Some((worksheet, insertion)) = self.inserted.clone() else { return };
        for at in self.after.formulas_below(&worksheet, insertion) {
            let Some(text) = self.after.peek(&at.worksheet, at.at).and_then(Cell::formula).cloned() else { continue };
            let moved = insertion.formula(&text, &at.worksheet, &worksheet);
            self.add(at, &moved.map_or(text, SmolStr::from));
        }
    }

    /// Adds the formula that stands at a cell.
    fn add_standing(&mut self, at: &FormulaAt) {
        if self.affected.contains_key(at) {
            return;
        }
        if let Some(text) = self.after.peek(&at.worksheet, at.at).and_then(Cell::formula).cloned() {
            self.add(at.clone(), &text);
        }
    }

    fn add(&mut self, at: FormulaAt, text: &SmolStr) {
        let formula = Formula::read(text).ok();
        let reads = formula.as_ref().map(|formula| formula.names(&at.worksheet, &self.after)).unwrap_or_default();
        self.affected.insert(at, Task { text: text.clone(), formula, reads, outcome: None });
    }

    /// Finds every formula that the change reaches, and those that are computed on every change.
    fn reach(&mut self) {
        // A formula whose value came with it rests as it is until something that it reads changes.
        let resting = |at: &&FormulaAt| !self.changed.contains(*at);
        let volatile: Vec<FormulaAt> = self.after.formulas.volatile().filter(resting).cloned().collect();
        volatile.iter().for_each(|at| self.add_standing(at));
        let mut pending: Vec<FormulaAt> = self.changed.iter().chain(self.affected.keys()).cloned().collect();
        while let Some(cell) = pending.pop() {
            let mut readers = Vec::new();
            self.after.formulas.readers(&cell, |reader| readers.push(reader.clone()));
            for reader in readers {
                if !self.affected.contains_key(&reader) && !self.changed.contains(&reader) {
                    self.add_standing(&reader);
                    pending.push(reader);
                }
            }
        }
    }

    /// Computes the affected formulas, again as long as computed references turn out to read more than was known.
    fn compute(&mut self) -> Result<(), OverBudget> {
        for _ in 0..PASSES_MAX {
            let (order, circular) = self.order();
            let mut grew = false;
            for at in circular {
                let outcome =
                    Outcome { value: CellValue::Error(CellError::Circular), format: None, looked: BTreeSet::new() };
                self.put(&at, outcome);
            }
            for at in order {
                let Some(task) = self.affected.get_mut(&at) else { continue };
                let Some(formula) = &task.formula else { continue };
                let outcome = self.surroundings.compute(&self.after, formula, &at)?;
                let known = task.reads.len();
                task.reads.extend(outcome.looked.iter().cloned());
                grew |= task.reads.len() > known;
                self.put(&at, outcome);
            }
            if !grew {
                break;
            }
        }
        Ok(())
    }

    fn put(&mut self, at: &FormulaAt, outcome: Outcome) {
        let Some(task) = self.affected.get_mut(at) else { return };
        let written = task.written(at.at, &outcome, self.after.peek(&at.worksheet, at.at));
        task.outcome = Some(outcome);
        let mut canonical = Canonical::default();
        let mut applying = Applying::new(self.context.seq, self.context.time, self.context.actor, None, &mut canonical);
        self.after.write(&at.worksheet, vec![written], &mut applying);
        self.surroundings.forget(at);
    }

    /// Returns the affected formulas in an order in which each comes after those that it reads, and apart from them those that depend
    /// on themselves.
    fn order(&self) -> (Vec<FormulaAt>, Vec<FormulaAt>) {
        let mut waits: BTreeMap<&FormulaAt, usize> = self.affected.keys().map(|at| (at, 0)).collect();
        let mut readers: BTreeMap<&FormulaAt, Vec<&FormulaAt>> = BTreeMap::new();
        let mut sources: BTreeMap<&FormulaAt, Vec<&FormulaAt>> = BTreeMap::new();
        // A column of formulas over one table looks for the formulas inside of it once.
        let mut inside: BTreeMap<&Precedent, Vec<&FormulaAt>> = BTreeMap::new();
        for (at, task) in &self.affected {
            let mut read: BTreeSet<&FormulaAt> = BTreeSet::new();
            for area in &task.reads {
                read.extend(inside.entry(area).or_insert_with(|| self.affected_in(area).collect()).iter().copied());
            }
            waits.insert(at, read.len());
            for source in read {
                readers.entry(source).or_default().push(at);
                sources.entry(at).or_default().push(source);
            }
        }
        let none = Vec::new();
        let mut order = Vec::new();
        let mut ready: BTreeSet<&FormulaAt> =
            waits.iter().filter(|(_, count)| **count == 0).map(|(at, _)| *at).collect();
        while let Some(at) = ready.pop_first() {
            waits.remove(at);
            order.push(at.clone());
            for reader in readers.get(at).unwrap_or(&none) {
                if let Some(count) = waits.get_mut(reader) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(reader);
                    }
                }
            }
        }
        // What is left depends on itself, or on something that does.
        let left: BTreeSet<&FormulaAt> = waits.into_keys().collect();
        let (behind, circular) = circles(&left, &sources);
        order.extend(behind.into_iter().cloned());
        (order, circular.into_iter().cloned().collect())
    }

    fn affected_in<'s>(&'s self, area: &'s Precedent) -> impl Iterator<Item = &'s FormulaAt> {
        let place = |at| FormulaAt { worksheet: area.worksheet.clone(), at };
        let rows = place(area.area.first)..=place(area.area.last);
        self.affected.range(rows).map(|(at, _)| at).filter(|at| area.area.contains(at.at))
    }

    /// Notes what the computed formulas rest on, but for what this very call writes.
    fn note(&self, frame: &Frame) {
        let areas: BTreeSet<&Precedent> = self.affected.values().flat_map(|task| &task.reads).collect();
        let is_old = |worksheet: &SmolStr, at| {
            let place = FormulaAt { worksheet: worksheet.clone(), at };
            !self.changed.contains(&place) && !self.affected.contains_key(&place)
        };
        let Some((moved, insertion)) = &self.inserted else {
            for area in areas {
                self.before.note_area(frame, area, |at| is_old(&area.worksheet, at));
            }
            return;
        };
        for area in areas {
            if area.worksheet != *moved {
                self.before.note_area(frame, area, |at| is_old(&area.worksheet, at));
            } else if let Some(before) = insertion.area_before(area.area) {
                let before = Precedent { worksheet: moved.clone(), area: before };
                self.before.note_area(frame, &before, |_| true);
            }
        }
    }

    /// Returns the cells that came out different from what they were.
    fn results(self) -> BTreeMap<SmolStr, BTreeMap<CellRef, CellWritten>> {
        let mut results: BTreeMap<SmolStr, BTreeMap<CellRef, CellWritten>> = BTreeMap::new();
        for (at, task) in self.affected {
            let Some(outcome) = &task.outcome else { continue };
            let before = self.base.as_ref().unwrap_or(self.before).peek(&at.worksheet, at.at);
            let entered = self.changed.contains(&at);
            let written = task.written(at.at, outcome, before.filter(|_| !entered));
            let same = !entered
                && before.is_some_and(|before| {
                    before.value == written.value
                        && written.format.as_ref().is_none_or(|format| *format == before.format)
                        && before.input.as_deref() == written.input.as_ref()
                });
            if !same {
                results.entry(at.worksheet).or_default().insert(at.at, written);
            }
        }
        results
    }
}

impl Task {
    fn written(&self, at: CellRef, outcome: &Outcome, before: Option<&Cell>) -> CellWritten {
        // A format that somebody chose outweighs the one that the result calls for.
        let free = before.is_none_or(|before| before.format.is_empty());
        CellWritten {
            at,
            value: outcome.value.clone(),
            format: outcome.format.filter(|_| free).map(SmolStr::from),
            input: Some(Input::Formula {
                text: self.text.clone(),
                reads: self.reads.iter().cloned().collect(),
                volatile: self.formula.as_ref().is_some_and(|formula| formula.volatile),
            }),
        }
    }
}

fn too_expensive(over: OverBudget) -> Rejection {
    Rejection::new(
        "sheets/too-expensive",
        format!(
            "computing the formulas that this change reaches: {over}; make them read smaller ranges, or clear some of them first"
        ),
    )
}

fn enters_formula(event: &SheetsEvent) -> bool {
    let SheetsEvent::CellsWritten { cells, .. } = event else { return false };
    cells.iter().any(|cell| matches!(cell.input, Some(Input::Formula { .. })))
}

/// Puts the results for cells that an event enters into that event.
fn merge(event: &mut SheetsEvent, computed: &mut BTreeMap<SmolStr, BTreeMap<CellRef, CellWritten>>) {
    let SheetsEvent::CellsWritten { worksheet, cells, .. } = event else { return };
    let Some(results) = computed.get_mut(worksheet) else { return };
    for cell in cells {
        if let Some(result) = results.remove(&cell.at) {
            let format = cell.format.take().or(result.format.clone());
            *cell = CellWritten { format, ..result };
        }
    }
    if results.is_empty() {
        computed.remove(worksheet);
    }
}

/// Tells those of `left` that depend on themselves from those that only depend on such, which come in an order in which each comes after
/// those that it reads. (The strongly connected components of Tarjan, 1972, with a stack of our own: a chain of formulas may be long.)
fn circles<'f>(
    left: &BTreeSet<&'f FormulaAt>,
    sources: &BTreeMap<&'f FormulaAt, Vec<&'f FormulaAt>>,
) -> (Vec<&'f FormulaAt>, Vec<&'f FormulaAt>) {
    struct Seen {
        index: usize,
        low: usize,
        open: bool,
    }
    let none = Vec::new();
    let sources_of = |at: &FormulaAt| sources.get(at).unwrap_or(&none);
    let mut seen: BTreeMap<&FormulaAt, Seen> = BTreeMap::new();
    let (mut behind, mut circular) = (Vec::new(), Vec::new());
    let mut open: Vec<&FormulaAt> = Vec::new();
    for root in left {
        // Each with how many of its sources were followed.
        let mut path: Vec<(&FormulaAt, usize)> = if seen.contains_key(root) { Vec::new() } else { vec![(*root, 0)] };
        while let Some((at, followed)) = path.last_mut() {
            let at = *at;
            if *followed == 0 {
                let index = seen.len();
                seen.entry(at).or_insert_with(|| {
                    open.push(at);
                    Seen { index, low: index, open: true }
                });
            }
            if let Some(source) = sources_of(at).get(*followed).copied() {
                *followed += 1;
                match seen.get(source).map(|seen| (seen.index, seen.open)) {
                    None if left.contains(source) => path.push((source, 0)),
                    Some((index, true)) => lower(seen.get_mut(at).map(|seen| &mut seen.low), index),
                    None | Some((_, false)) => {}
                }
                continue;
            }
            path.pop();
            let (index, low) = seen.get(at).map(|seen| (seen.index, seen.low)).unwrap_or_default();
            if let Some((reader, _)) = path.last() {
                lower(seen.get_mut(*reader).map(|seen| &mut seen.low), low);
            }
            if low == index {
                let start = open.iter().rposition(|each| *each == at).unwrap_or_default();
                let circle = open.split_off(start);
                for each in &circle {
                    if let Some(seen) = seen.get_mut(*each) {
                        seen.open = false;
                    }
                }
                if circle.len() > 1 || sources_of(at).contains(&at) {
                    circular.extend(circle);
                } else {
                    behind.push(at);
                }
            }
        }
    }
    (behind, circular)
}

fn lower(low: Option<&mut usize>, to: usize) {
    if let Some(low) = low {
        *low = to.min(*low);
    }
}
