//! The identifiers that every record, read and event speaks of. Each is a newtype, so that a turn is never taken for
//! a position; none of them is random, and none is drawn from the host.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// Declares a newtype over an unsigned number that counts something.
macro_rules! counter {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name($inner);

        impl $name {
            /// Returns the newtype over `number`.
            #[must_use]
            pub const fn new(number: $inner) -> Self {
                Self(number)
            }

            /// Returns the bare number.
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }

            /// Returns the one that follows.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

counter! {
    /// The position of a record in its log: 0 is the genesis record. As the writer of a value, 0 means "there since
    /// the beginning".
    Seq(u64)
}
counter! {
    /// One assistant message with its calls: the unit of credit. Numbered from 1.
    Turn(u32)
}
counter! {
    /// One segment of the timeline. Numbered from 1; 0 is before the first day opens.
    Day(u32)
}

/// Declares a newtype over 32 bytes that prints as hexadecimal.
macro_rules! digest {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(#[serde(with = "serde_bytes")] [u8; 32]);

        impl $name {
            /// Returns the newtype over `bytes`.
            #[must_use]
            pub const fn new(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// Returns BLAKE3 over `bytes`.
            #[must_use]
            pub fn of(bytes: &[u8]) -> Self {
                Self(*blake3::hash(bytes).as_bytes())
            }

            /// Returns the bare bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }

            /// Returns the first 12 hexadecimal digits, for people.
            #[must_use]
            pub fn short(&self) -> String {
                self.to_string()[..12].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = BadDigest;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut bytes = [0; 32];
                if text.len() != 64 || !text.is_ascii() {
                    return Err(BadDigest);
                }
                for (index, byte) in bytes.iter_mut().enumerate() {
                    *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).map_err(|_| BadDigest)?;
                }
                Ok(Self(bytes))
            }
        }
    };
}

digest! {
    /// The hash of one record's stored bytes. The head's hash identifies the whole history before it.
    RecordHash
}
digest! {
    /// The name of a blob: BLAKE3 over its content.
    BlobId
}

/// Text that should have been 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a digest of 64 hexadecimal digits")]
pub struct BadDigest;

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The initial state, laid out before the episode opens.
    Scenario,
    /// The clockwork: exogenous events in nobody's name.
    World,
    /// The agent under test.
    Agent,
    /// A simulated user or colleague, by name.
    Persona(SmolStr),
}

impl Actor {
    /// Returns whether credit treats this actor as exogenous: everybody but the agent.
    #[must_use]
    pub fn is_exogenous(&self) -> bool {
        !matches!(self, Self::Agent)
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario => formatter.write_str("scenario"),
            Self::World => formatter.write_str("world"),
            Self::Agent => formatter.write_str("agent"),
            Self::Persona(name) => write!(formatter, "persona:{name}"),
        }
    }
}

/// The name of an exogenous event of a scenario's timeline, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(SmolStr);

impl EventId {
    /// Returns the newtype over `name`.
    #[must_use]
    pub fn new(name: impl Into<SmolStr>) -> Self {
        Self(name.into())
    }

    /// Returns the name of an event that comes from outside of the timeline. No planned event has such a name: a timeline's names hold no colon.
    #[must_use]
    pub fn outside(name: &str) -> Self {
        Self(smol_str::format_smolstr!("{OUTSIDE}{name}"))
    }

    /// Returns whether the event comes from outside of the timeline, so that its records are inputs.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.0.starts_with(OUTSIDE)
    }

    /// Returns the bare name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How the names of events begin that come from outside of the timeline.
const OUTSIDE: &str = "outside:";

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
