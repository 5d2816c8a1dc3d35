//! The form of a value in the database: an envelope that says by itself what it is, so that the value can be found and proven in the raw bytes
//! of a damaged file, without the database. Not what the content means.
//!
//! ```text
//!  0  tag      2                                    1 byte
//!  1  magic    "DSV" and the version                4 bytes
//!  5  CRC32C   of everything that follows           4 bytes
//!  9  stamp    rises when a key is written again    8 bytes
//! 17  key      its length and its bytes             1 + n bytes
//!     content  its length, its form, its bytes      4 + 1 + m bytes
//! ```
//!
//! Values of earlier versions have no envelope: they begin with their form.

/// The content stands in the value.
pub(crate) const INLINE: u8 = 0;
/// The content is the name of a file.
pub(crate) const IN_FILE: u8 = 1;
/// An envelope follows.
const ENVELOPED: u8 = 2;

pub(crate) const VALUE_MAGIC: [u8; 4] = *b"DSV\x01";

/// How many bytes of magic, checksum, stamp and length stand before the key.
const KEY_AT: usize = 17;

/// A value that was taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    /// Whether its checksum holds. If not, nothing in it can be believed.
    pub(crate) checked: bool,
    pub(crate) stamp: u64,
    pub(crate) key: &'a [u8],
    pub(crate) form: u8,
    pub(crate) content: &'a [u8],
}

/// Returns the stored form.
pub(crate) fn enveloped(key: &[u8], stamp: u64, form: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(KEY_AT + key.len() + content.len() + 6);
    bytes.push(ENVELOPED);
    bytes.extend_from_slice(&VALUE_MAGIC);
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&stamp.to_le_bytes());
    bytes.push(u8::try_from(key.len()).expect("a key is a letter and at most two numbers"));
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&u32::try_from(content.len()).expect("a value holds a few KiB").to_le_bytes());
    bytes.push(form);
    bytes.extend_from_slice(content);
    let check = crc32c::crc32c(&bytes[9..]);
    bytes[5..9].copy_from_slice(&check.to_le_bytes());
    bytes
}

/// Returns `value`, which has an envelope, with another stamp.
pub(crate) fn restamped(value: &[u8], stamp: u64) -> Vec<u8> {
    opened(value).map_or_else(|| value.to_vec(), |value| enveloped(value.key, stamp, value.form, value.content))
}

/// Takes a value from the database apart. Nothing if it is no value, or altered.
pub(crate) fn opened(value: &[u8]) -> Option<Value<'_>> {
    match value.split_first() {
        Some((&ENVELOPED, rest)) => parse(rest).filter(|value| value.checked),
        Some((&form @ (INLINE | IN_FILE), content)) => Some(Value { checked: true, stamp: 0, key: &[], form, content }),
        Some(_) => None,
        None => Some(Value { checked: true, stamp: 0, key: &[], form: INLINE, content: &[] }),
    }
}

/// Takes apart what begins with a value's magic, whatever follows it. Nothing where the lengths lead out of `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value<'_>> {
    if bytes.get(..4)? != VALUE_MAGIC {
        return None;
    }
    let check = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
    let stamp = u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?);
    let key_end = KEY_AT + usize::from(*bytes.get(16)?);
    let key = bytes.get(KEY_AT..key_end)?;
    let length = u32::from_le_bytes(bytes.get(key_end..key_end + 4)?.try_into().ok()?) as usize;
    let form = *bytes.get(key_end + 4)?;
    let end = (key_end + 5).checked_add(length)?;
    let content = bytes.get(key_end + 5..end)?;
    Some(Value { checked: crc32c::crc32c(&bytes[8..end]) == check, stamp, key, form, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_apart_as_it_was_put_together() {
        let value = enveloped(b"n12345678", 7, INLINE, b"content");
        let expected = Value { checked: true, stamp: 7, key: b"n12345678", form: INLINE, content: b"content" };
        assert_eq!(opened(&value), Some(expected));
        assert_eq!(parse(&[&value[1..], b"what follows"].concat()), Some(expected));
    }

    #[test]
    fn every_altered_byte_of_a_value_is_found() {
        let value = enveloped(b"n12345678", 7, INLINE, b"content");
        for at in 1..value.len() {
            let mut altered = value.clone();
            altered[at] ^= 1;
            assert_eq!(opened(&altered), None, "byte {at}");
        }
    }

    #[test]
    fn a_value_of_an_earlier_version_is_read() {
        let earlier = opened(b"\x00content").expect("a value");
        assert_eq!((earlier.form, earlier.content), (INLINE, b"content".as_slice()));
    }
}
