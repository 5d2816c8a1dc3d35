//! The facts of the spreadsheet service. Each carries everything that `apply` needs, computed values included, so that replay never
//! asks a formula engine.

use dayshift_engine::{Content, SmolStr};
use serde::{Deserialize, Serialize};

use super::a1::{Area, CellRef};
use super::cell::{CellValue, Input};

/// Something that happened to a workbook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SheetsEvent {
    /// A workbook came into being, without worksheets.
    BookCreated {
        /// Its name.
        book: SmolStr,
        /// Its lasting id.
        id: SmolStr,
    },
    /// A file became a workbook, or a part of one. Comes last of its record.
    BookImported {
        /// The workbook.
        book: SmolStr,
        /// `csv` or `xlsx`.
        format: SmolStr,
        /// The file itself, as long as the workbook is what the file says.
        source: Content,
    },
    /// A worksheet came to stand behind the others.
    WorksheetAdded {
        /// The workbook.
        book: SmolStr,
        /// The worksheet.
        worksheet: SmolStr,
    },
    /// A worksheet got another name. The formulas that name it follow in events of their own.
    WorksheetRenamed {
        /// The workbook.
        book: SmolStr,
        /// The worksheet's old name.
        worksheet: SmolStr,
        /// Its new name.
        to: SmolStr,
    },
    /// A worksheet went away with its cells.
    WorksheetDeleted {
        /// The workbook.
        book: SmolStr,
        /// The worksheet.
        worksheet: SmolStr,
    },
    /// Cells got what they hold now, entered or computed.
    CellsWritten {
        /// The workbook.
        book: SmolStr,
        /// The worksheet.
        worksheet: SmolStr,
        /// The cells, in order.
        cells: Vec<CellWritten>,
    },
    /// Everything in an area lost its value and kept its format.
    CellsCleared {
        /// The workbook.
        book: SmolStr,
        /// The worksheet.
        worksheet: SmolStr,
        /// The cells.
        area: Area,
    },
    /// Empty rows came in between: everything from a row on moved down. The formulas that follow do so in events of their own.
    RowsInserted {
        /// The workbook.
        book: SmolStr,
        /// The worksheet.
        worksheet: SmolStr,
        /// The row above which they came, from 0.
        at: u32,
        /// How many they are.
        count: u32,
    },
    /// Areas came to be shown as one cell each.
    CellsMerged {
        /// The workbook.
        book: SmolStr,
        /// The worksheet.
        worksheet: SmolStr,
        /// The areas, in order.
        areas: Vec<Area>,
    },
    /// An area got a name.
    RangeNamed {
        /// The workbook.
        book: SmolStr,
        /// The name.
        name: SmolStr,
        /// The area's worksheet.
        worksheet: SmolStr,
        /// The area.
        area: Area,
    },
}

/// What one cell holds now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellWritten {
    /// The cell.
    pub at: CellRef,
    /// What it is worth.
    pub value: CellValue,
    /// The number format's code from now on, empty for General; without one the cell keeps the format that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<SmolStr>,
    /// What was entered, if the value does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
}
