//! What the cells of a worksheet show, in lower case and side by side, and where there is anything at all: an index that is derived from the
//! cells, kept by `apply`, and never graded. A search looks through a few hundred texts instead of formatting every cell, and the
//! borders of a table are found without looking at the cells in it.

use std::sync::Arc;

use imbl::OrdMap;
use memchr::memmem::Finder;

use super::a1::{Area, CellRef};
use super::cell::Cell;
use super::format::formatted;

/// How many rows and columns one tile covers; both make a place fit into one byte, and a row into one mask.
const TILE_CELLS: u32 = 16;

/// Where something is shown and what, by tiles of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShownIndex {
    /// By the number of the tile's row, then of its column.
    tiles: OrdMap<(u32, u32), Arc<Tile>>,
}

/// What 16 by 16 cells show.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tile {
    /// The cells that are not blank, row by row, and where the text of each ends.
    cells: Vec<(u8, u32)>,
    /// For each cell what it shows, and its formula if it has one, in lower case, each with a line end.
    text: String,
    /// For each row which columns are not blank.
    masks: [u16; TILE_CELLS as usize],
}

impl Tile {
    /// Puts `text` in the place of what a cell showed; without one the cell is blank.
    fn set(&mut self, place: u8, text: Option<&str>) {
        let (row, bit) = (usize::from(place / 16), 1_u16 << (place % 16));
        let found = self.cells.binary_search_by_key(&place, |(place, _)| *place);
        let (Ok(at) | Err(at)) = found;
        let start = at.checked_sub(1).map_or(0, |before| self.cells[before].1);
        let end = if found.is_ok() { self.cells[at].1 } else { start };
        self.text.replace_range(start as usize..end as usize, text.unwrap_or_default());
        let length = text.map_or(0, str::len) as u32;
        match (found, text) {
            (Ok(_), Some(_)) => {}
            (Err(_), Some(_)) => self.cells.insert(at, (place, end)),
            (Ok(_), None) => drop(self.cells.remove(at)),
            (Err(_), None) => return,
        }
        if text.is_some() {
            self.masks[row] |= bit;
        } else {
            self.masks[row] &= !bit;
        }
        for (_, each) in &mut self.cells[at..] {
            *each = *each + length + start - end;
        }
    }

    /// Shows `visit` the cells in whose texts `needle` may be. What is found across two texts is found too; whoever asks looks again.
    fn holding(&self, needle: &Finder<'_>, mut visit: impl FnMut(u8)) {
        let mut from = 0;
        while let Some(found) = needle.find(&self.text.as_bytes()[from..]) {
            let at = self.cells.partition_point(|(_, end)| *end as usize <= from + found);
            let Some((place, end)) = self.cells.get(at) else { return };
            visit(*place);
            from = *end as usize;
        }
    }
}

impl ShownIndex {
    /// Notes what a cell shows now.
    pub(super) fn set(&mut self, at: CellRef, cell: &Cell) {
        if cell.is_blank() {
            return self.remove(at);
        }
        let mut text = lower(&formatted(cell));
        text.push('\n');
        if let Some(formula) = cell.formula() {
            text.push_str(&lower(formula));
            text.push('\n');
        }
        let (tile, place) = place_of(at);
        Arc::make_mut(self.tiles.entry(tile).or_default()).set(place, Some(&text));
    }

    /// Notes that a cell is blank now.
    pub(super) fn remove(&mut self, at: CellRef) {
        let (key, place) = place_of(at);
        let Some(tile) = self.tiles.get_mut(&key) else { return };
        let tile = Arc::make_mut(tile);
        tile.set(place, None);
        if tile.cells.is_empty() {
            self.tiles.remove(&key);
        }
    }

    /// Forgets what is shown from a row on.
    pub(super) fn cut(&mut self, from: u32) {
        let whole = from.div_ceil(TILE_CELLS);
        let keys: Vec<(u32, u32)> = self.tiles.range((from / TILE_CELLS, 0)..).map(|(key, _)| *key).collect();
        for key in keys {
            if key.0 >= whole {
                self.tiles.remove(&key);
                continue;
            }
            let places: Vec<u8> = self
                .tiles
                .get(&key)
                .map(|tile| tile.cells.iter().map(|(place, _)| *place).collect())
                .unwrap_or_default();
            for at in places.into_iter().map(|place| cell_of(key, place)).filter(|at| at.row >= from) {
                self.remove(at);
            }
        }
    }

    /// Returns the cells in which `lower`, a text in lower case, may be found, row by row: all of those in which it is, and some others.
    pub(super) fn holding<'s>(&'s self, lower: &str) -> impl Iterator<Item = CellRef> + use<'s> {
        let needle = Finder::new(lower.as_bytes()).into_owned();
        let mut tiles = self.tiles.iter().peekable();
        let mut found: Vec<CellRef> = Vec::new();
        // Tiles that stand side by side share rows.
        let mut band = move || {
            let row = tiles.peek()?.0.0;
            let mut found = Vec::new();
            while let Some(((_, column), tile)) = tiles.next_if(|((next, _), _)| *next == row) {
                tile.holding(&needle, |place| found.push(cell_of((row, *column), place)));
            }
            found.sort_unstable_by(|left, right| right.cmp(left));
            Some(found)
        };
        std::iter::from_fn(move || {
            loop {
                if let Some(at) = found.pop() {
                    return Some(at);
                }
                found = band()?;
            }
        })
    }

    /// Returns how many rows and columns have content.
    pub(super) fn extent(&self) -> Option<(u32, u32)> {
        let ((last, _), _) = self.tiles.get_max()?;
        let band = self.tiles.range((*last, 0)..);
        let rows = band.filter_map(|(_, tile)| tile.masks.iter().rposition(|mask| *mask != 0)).max()?;
        let columns = self.tiles.iter().map(|((_, column), tile)| {
            let mask = tile.masks.iter().fold(0, |all, mask| all | mask);
            column * TILE_CELLS + TILE_CELLS - mask.leading_zeros()
        });
        Some((last * TILE_CELLS + rows as u32 + 1, columns.max()?))
    }

    /// Returns the first cell of `row` that is not blank between two columns.
    pub(super) fn first_in_row(&self, row: u32, left: u32, right: u32) -> Option<CellRef> {
        let band = row / TILE_CELLS;
        let tiles = self.tiles.range((band, left / TILE_CELLS)..=(band, right / TILE_CELLS));
        let mut found = tiles.filter_map(|((_, column), tile)| {
            let mask = tile.masks[(row % TILE_CELLS) as usize] & columns_mask(*column, left, right);
            (mask != 0).then(|| CellRef { row, column: column * TILE_CELLS + mask.trailing_zeros() })
        });
        found.next()
    }

    /// Returns how many rows one after the other have something between two columns, from `row` on downwards.
    fn rows_down(&self, row: u32, left: u32, right: u32) -> u32 {
        let mut next = row;
        loop {
            let rows = self.band(next / TILE_CELLS, left, right) >> (next % TILE_CELLS);
            let here = rows.trailing_ones();
            next += here;
            if here == 0 || !next.is_multiple_of(TILE_CELLS) {
                return next - row;
            }
        }
    }

    /// Returns how many rows one after the other have something between two columns, from the one above `row` on upwards.
    fn rows_up(&self, row: u32, left: u32, right: u32) -> u32 {
        let mut next = row;
        while let Some(above) = next.checked_sub(1) {
            let rows = self.band(above / TILE_CELLS, left, right) << (TILE_CELLS - 1 - above % TILE_CELLS);
            let here = rows.leading_ones();
            next -= here;
            if here == 0 || !next.is_multiple_of(TILE_CELLS) {
                break;
            }
        }
        row - next
    }

    /// Returns which rows of a band of tiles have something between two columns, one bit a row.
    fn band(&self, band: u32, left: u32, right: u32) -> u16 {
        let tiles = self.tiles.range((band, left / TILE_CELLS)..=(band, right / TILE_CELLS));
        tiles.fold(0, |rows, ((_, column), tile)| {
            let wanted = columns_mask(*column, left, right);
            let filled = tile.masks.iter().enumerate().filter(|(_, mask)| **mask & wanted != 0);
            filled.fold(rows, |rows, (row, _)| rows | 1 << row)
        })
    }

    /// Returns whether a column has something between two rows.
    fn has_in_column(&self, column: u32, top: u32, bottom: u32) -> bool {
        let (tile_column, bit) = (column / TILE_CELLS, 1_u16 << (column % TILE_CELLS));
        (top / TILE_CELLS..=bottom / TILE_CELLS).any(|band| {
            let Some(tile) = self.tiles.get(&(band, tile_column)) else { return false };
            let rows = columns_mask(band, top, bottom);
            tile.masks.iter().enumerate().any(|(row, mask)| rows >> row & 1 == 1 && mask & bit != 0)
        })
    }

    /// Grows `seed` as long as cells that are not blank touch its border, corners included: the table around it.
    pub(super) fn region(&self, seed: Area) -> Area {
        let mut region = seed;
        loop {
            let (left, right) =
                (region.first.column.saturating_sub(1), (region.last.column + 1).min(CellRef::LAST.column));
            let mut grown = region;
            grown.first.row -= self.rows_up(region.first.row, left, right);
            grown.last.row += self.rows_down(region.last.row + 1, left, right);
            let (top, bottom) = (grown.first.row.saturating_sub(1), (grown.last.row + 1).min(CellRef::LAST.row));
            if left < region.first.column && self.has_in_column(left, top, bottom) {
                grown.first.column = left;
            }
            if right > region.last.column && self.has_in_column(right, top, bottom) {
                grown.last.column = right;
            }
            if grown == region {
                return region;
            }
            region = grown;
        }
    }
}

/// Returns which columns of a tile lie between two columns of the worksheet, one bit a column. It does for rows as well.
fn columns_mask(tile: u32, left: u32, right: u32) -> u16 {
    let start = tile * TILE_CELLS;
    let (low, high) = (left.max(start), right.min(start + TILE_CELLS - 1));
    if low > high { 0 } else { (u16::MAX >> (TILE_CELLS - 1 - (high - low))) << (low - start) }
}

fn place_of(at: CellRef) -> ((u32, u32), u8) {
    let place = at.row % TILE_CELLS * TILE_CELLS + at.column % TILE_CELLS;
    ((at.row / TILE_CELLS, at.column / TILE_CELLS), place as u8)
}

fn cell_of(tile: (u32, u32), place: u8) -> CellRef {
    let place = u32::from(place);
    CellRef { row: tile.0 * TILE_CELLS + place / TILE_CELLS, column: tile.1 * TILE_CELLS + place % TILE_CELLS }
}

fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::cell::CellValue;
    use super::*;

    type Plain = BTreeMap<CellRef, String>;

    /// Sets and empties cells one after the other, and keeps a plain map beside.
    fn laid_out(changes: Vec<(u32, u32, Option<String>)>) -> (ShownIndex, Plain) {
        let (mut index, mut plain) = (ShownIndex::default(), Plain::new());
        for (row, column, text) in changes {
            let at = CellRef { row, column };
            let value = text.clone().map_or(CellValue::Empty, |text| CellValue::Text(text.into()));
            index.set(at, &Cell { value, ..Cell::default() });
            match text {
                Some(text) => drop(plain.insert(at, text)),
                None => drop(plain.remove(&at)),
            }
        }
        (index, plain)
    }

    fn changes() -> impl Strategy<Value = Vec<(u32, u32, Option<String>)>> {
        proptest::collection::vec((0..40_u32, 0..40_u32, proptest::option::weighted(0.8, "[abAÄΣ\n]{0,3}")), 0..120)
    }

    /// What [`ShownIndex::region`] means, cell by cell.
    fn region(plain: &Plain, seed: Area) -> Area {
        let mut region = seed;
        loop {
            let grown = plain.keys().filter(|at| {
                at.row + 1 >= region.first.row
                    && at.row <= region.last.row + 1
                    && at.column + 1 >= region.first.column
                    && at.column <= region.last.column + 1
            });
            let grown = grown.fold(region, |grown, at| Area {
                first: Area::spanning(grown.first, *at).first,
                last: Area::spanning(grown.last, *at).last,
            });
            if grown == region {
                return region;
            }
            region = grown;
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_the_cells_say_whatever_way_they_came_to_be(changes in changes()) {
            let (index, plain) = laid_out(changes);
            let rebuilt = laid_out(plain.iter().map(|(at, text)| (at.row, at.column, Some(text.clone()))).collect());
            prop_assert_eq!(index, rebuilt.0);
        }

        #[test]
        fn a_text_is_found_where_the_cells_have_it(changes in changes(), needle in "[abÄΣ\n]{1,3}") {
            let (index, plain) = laid_out(changes);
            let lower = needle.to_lowercase();
            let found: Vec<CellRef> = index.holding(&lower).collect();
            prop_assert!(found.is_sorted(), "{:?}", found);
            let has = |text: &String| text.to_lowercase().contains(&lower);
            let confirmed: Vec<CellRef> = found.into_iter().filter(|at| has(&plain[at])).collect();
            let expected: Vec<CellRef> = plain.iter().filter(|(_, text)| has(text)).map(|(at, _)| *at).collect();
            prop_assert_eq!(confirmed, expected);
        }

        #[test]
        fn a_table_ends_where_its_border_is_empty(
            changes in proptest::collection::vec((0..36_u32, 0..36_u32, Just(Some("x".to_owned()))), 0..400),
            row in 0..36_u32,
            column in 0..36_u32,
            width in 0..3_u32,
        ) {
            let (index, plain) = laid_out(changes);
            let seed = Area { first: CellRef { row, column }, last: CellRef { row, column: column + width } };
            prop_assert_eq!(index.region(seed), region(&plain, seed));
            let first = plain.keys().find(|at| at.row == row && at.column >= column && at.column <= column + width);
            prop_assert_eq!(index.first_in_row(row, column, column + width), first.copied());
            let extent = plain.keys().map(|at| at.row + 1).max().zip(plain.keys().map(|at| at.column + 1).max());
            prop_assert_eq!(index.extent(), extent);
        }
    }

    #[test]
    fn a_table_at_the_edge_of_the_grid_ends_there() {
        let last = CellRef::LAST;
        let cell = Cell { value: CellValue::Bool(true), ..Cell::default() };
        let mut index = ShownIndex::default();
        index.set(last, &cell);
        index.set(CellRef { row: last.row - 1, ..last }, &cell);
        let region = index.region(Area::cell(last));
        assert_eq!(region, Area { first: CellRef { row: last.row - 1, ..last }, last });
        assert_eq!(index.extent(), Some((last.row + 1, last.column + 1)));
    }
}
