//! The world digest: a sum over all graded pieces of a hash of (key, canonical value), so that one write changes it in constant time
//! and the order of writing never shows. It compares worlds and finds anchors for credit; it proves nothing against an adversary (the
//! record chain does that).

use std::fmt;
use std::ops::{AddAssign, SubAssign};

use xxhash_rust::xxh3::xxh3_128;

use crate::value::Value;

/// The digest of a part of the world. Digests of parts add up to the digest of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateDigest(u128);

impl AddAssign for StateDigest {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl SubAssign for StateDigest {
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }
}

impl std::iter::Sum for StateDigest {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut total, part| {
            total += part;
            total
        })
    }
}

impl fmt::Display for StateDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// Collects the canonical form of one value. Every piece is written with its length or a tag, so that different values never run
/// together.
#[derive(Debug, Default)]
pub struct Canonical {
    bytes: Vec<u8>,
}

impl Canonical {
    /// Forgets what was collected and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Returns the digest of what was collected.
    #[must_use]
    pub fn digest(&self) -> StateDigest {
        StateDigest(xxh3_128(&self.bytes))
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        self.raw(b's', text.as_bytes());
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.raw(b'b', bytes);
    }

    /// Adds a whole number.
    pub fn int(&mut self, number: i64) {
        self.bytes.push(b'i');
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds a number. A whole value counts as the whole number: 5.0 and 5 are the same amount.
    pub fn float(&mut self, number: f64) {
        match Value::Float(number).as_int() {
            Some(whole) => self.int(whole),
            None => {
                self.bytes.push(b'f');
                self.bytes.extend_from_slice(&number.to_bits().to_le_bytes());
            }
        }
    }

    /// Adds a truth value.
    pub fn bool(&mut self, truth: bool) {
        self.bytes.extend_from_slice(&[b't', u8::from(truth)]);
    }

    /// Adds a structured value.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes.push(b'n'),
            Value::Bool(truth) => self.bool(*truth),
            Value::Int(number) => self.int(*number),
            Value::Float(number) => self.float(*number),
            Value::Text(text) => self.text(text),
            Value::List(items) => {
                self.raw(b'l', &(items.len() as u64).to_le_bytes());
                items.iter().for_each(|item| self.value(item));
            }
            Value::Map(map) => {
                self.raw(b'm', &(map.len() as u64).to_le_bytes());
                for (key, item) in map {
                    self.text(key);
                    self.value(item);
                }
            }
        }
    }

    fn raw(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
    }
}

impl fmt::Write for Canonical {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// A value that counts in the world digest.
pub trait Graded {
    /// Adds the value's canonical form. Reading marks and positions in the log stay out.
    fn canonical(&self, into: &mut Canonical);
}

impl Graded for Value {
    fn canonical(&self, into: &mut Canonical) {
        into.value(self);
    }
}

impl Graded for crate::blob::Content {
    fn canonical(&self, into: &mut Canonical) {
        match self {
            Self::Inline(bytes) => into.bytes(bytes),
            Self::Blob { id, .. } => into.raw(b'B', id.as_bytes()),
        }
    }
}
