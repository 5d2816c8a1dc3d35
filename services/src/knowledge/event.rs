//! The facts that the state of `knowledge` is a fold of. They carry everything `apply` needs and are part of the log format: a shape that
//! was shipped is never edited.

use dayshift_engine::{SmolStr, Value};
use serde::{Deserialize, Serialize};

use super::block::Block;

/// One fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnowledgeEvent {
    /// A page came to be.
    PageCreated {
        /// The page's id.
        id: SmolStr,
        /// Its title.
        title: SmolStr,
        /// The page, or the row, that it is under; none for one at the root.
        parent: Option<SmolStr>,
        /// Its content.
        blocks: Vec<Block>,
        /// The name of who created it.
        by: SmolStr,
    },
    /// A page got another title.
    PageRetitled {
        /// The page.
        page: SmolStr,
        /// The title.
        title: SmolStr,
        /// The name of who did it.
        by: SmolStr,
    },
    /// Blocks were added at the end of a page or a row.
    BlocksAppended {
        /// The page or row.
        page: SmolStr,
        /// The blocks.
        blocks: Vec<Block>,
        /// The name of who did it.
        by: SmolStr,
    },
    /// A block gave way to others.
    BlockReplaced {
        /// The page or row.
        page: SmolStr,
        /// The block.
        block: SmolStr,
        /// What stands there now; nothing if the block was deleted.
        blocks: Vec<Block>,
        /// The name of who did it.
        by: SmolStr,
    },
    /// A database came to be, without rows.
    DatabaseDefined {
        /// The database's id.
        id: SmolStr,
        /// The page that it is in; none for one at the root.
        parent: Option<SmolStr>,
        /// The definition, which `decide` has read without a fault. What can be read once can be read for ever: the language of
        /// definitions only grows.
        definition: Value,
        /// The name of who created it.
        by: SmolStr,
    },
    /// Properties of a database got further options.
    OptionsAdded {
        /// The database.
        database: SmolStr,
        /// The property.
        property: SmolStr,
        /// The options, in order.
        options: Vec<SmolStr>,
    },
    /// Rows came to be.
    RowsCreated {
        /// The database.
        database: SmolStr,
        /// The rows, in order.
        rows: Vec<NewRow>,
        /// The name of who created them.
        by: SmolStr,
    },
    /// Properties of a row got new values.
    RowChanged {
        /// The row.
        row: SmolStr,
        /// The properties and their new values, canonical.
        changes: Vec<(SmolStr, Value)>,
        /// The name of who did it.
        by: SmolStr,
    },
    /// A page, a row or a database was put into the archive, or taken out of it.
    ArchiveChanged {
        /// The page, row or database.
        id: SmolStr,
        /// Whether it is in the archive now.
        archived: bool,
        /// The name of who did it.
        by: SmolStr,
    },
}

/// A row that came to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewRow {
    /// The row's id.
    pub id: SmolStr,
    /// The properties that are not empty and their values, canonical.
    pub values: Vec<(SmolStr, Value)>,
    /// Its content.
    pub blocks: Vec<Block>,
}
