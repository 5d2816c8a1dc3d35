//! Whole rows as scans look at them, each in one piece of memory: ten thousand rows are looked through without fetching every piece from where
//! it lies. Derived from the pieces of a table.

use std::sync::Arc;

use dayshift_engine::{SmolStr, Value};
use imbl::{OrdMap, Vector};

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The row's id.
    pub(super) id: SmolStr,
    /// Which row of the table it was, by order of creation.
    pub(super) position: u64,
    /// In the order of the schema's fields.
    values: Vec<Value>,
}

impl Row {
    /// Returns the row `id` with the values of all fields.
    pub(super) fn new(id: SmolStr, position: u64, values: Vec<Value>) -> Self {
        Self { id, position, values }
    }

    /// Returns the value of the field that stands at `position` in the schema.
    pub(super) fn value(&self, position: usize) -> &Value {
        self.values.get(position).unwrap_or(&Value::Null)
    }
}

/// All rows of a table. A change copies a short stretch of `rows` and leaves the index of ids alone, so that forks stay small.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Where in `rows` the row of an id is.
    places: OrdMap<SmolStr, usize>,
    /// In no order that means anything.
    rows: Vector<Arc<Row>>,
}

impl Rows {
    /// Returns the row `id`.
    pub(super) fn get(&self, id: &SmolStr) -> Option<&Row> {
        self.rows.get(*self.places.get(id)?).map(|row| &**row)
    }

    /// Returns how many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns all rows in the order of their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.places.values().filter_map(|place| self.rows.get(*place)).map(|row| &**row)
    }

    /// Adds a row whose id is free.
    pub(super) fn insert(&mut self, row: Row) {
        self.places.insert(row.id.clone(), self.rows.len());
        self.rows.push_back(Arc::new(row));
    }

    /// Changes one value of a row.
    pub(super) fn set(&mut self, id: &SmolStr, position: usize, to: Value) {
        let row = self.places.get(id).and_then(|place| self.rows.get_mut(*place));
        if let Some(value) = row.and_then(|row| Arc::make_mut(row).values.get_mut(position)) {
            *value = to;
        }
    }

    /// Takes a row out. The last one takes its place.
    pub(super) fn remove(&mut self, id: &SmolStr) {
        let Some(place) = self.places.remove(id) else { return };
        let Some(last) = self.rows.pop_back() else { return };
        if place < self.rows.len() {
            self.places.insert(last.id.clone(), place);
            self.rows.set(place, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_those_that_were_put_in(changes in proptest::collection::vec(("[a-h]", 0..3_u8), 0..60)) {
            let (mut rows, mut model) = (Rows::default(), BTreeMap::new());
            for (number, (id, what)) in changes.into_iter().enumerate() {
                let (id, value) = (SmolStr::from(id), Value::from(number));
                match what {
                    0 if !model.contains_key(&id) => {
                        rows.insert(Row::new(id.clone(), number as u64, vec![value.clone()]));
                        model.insert(id, (number as u64, value));
                    }
                    1 => {
                        rows.set(&id, 0, value.clone());
                        model.entry(id).and_modify(|row| row.1 = value);
                    }
                    _ => {
                        rows.remove(&id);
                        model.remove(&id);
                    }
                }
                let all: Vec<_> = rows.iter().map(|row| (row.id.clone(), (row.position, row.value(0).clone()))).collect();
                let expected: Vec<_> = model.iter().map(|(id, row)| (id.clone(), row.clone())).collect();
                prop_assert_eq!(all, expected);
                prop_assert_eq!(rows.len(), model.len());
                for id in ["a", "h"].map(SmolStr::from) {
                    prop_assert_eq!(rows.get(&id).map(|row| row.position), model.get(&id).map(|row| row.0));
                }
            }
        }
    }
}
