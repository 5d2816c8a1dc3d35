//! What scripts find for words and times.

use crate::limits::level;

#[track_caller]
fn holds(expression: &str) {
    assert_eq!(level(&format!("    return {expression}\n")), Ok(1.0), "{expression}");
}

#[track_caller]
fn does_not_hold(expression: &str) {
    assert_eq!(level(&format!("    return {expression}\n")), Ok(0.0), "{expression}");
}

#[test]
fn a_word_is_mentioned_as_a_whole_whatever_the_case() {
    for text in ["room 4 is free", "In ROOM 4.", "room 4", "(room 4)", "café, room 4"] {
        holds(&format!("mentions('{text}', ['room 4', 'hall'])"));
    }
    for text in ["room 41 is free", "ballroom 4", "caféroom 4", "rooms", ""] {
        does_not_hold(&format!("mentions('{text}', ['room 4', 'hall'])"));
    }
    holds("mentions('überall und über', ('ÜBER',))");
    does_not_hold("mentions('überall', ['über'])");
    does_not_hold("mentions(None, ['x']) or mentions('x', []) or mentions('x', [''])");
    holds("contains_any('room 41', ['room 4'])");
}

#[test]
fn the_same_moment_is_the_same_time_whatever_its_offset() {
    holds("same_time('2026-03-16T09:00:00+01:00', '2026-03-16T08:00:00Z')");
    does_not_hold("same_time('2026-03-16T09:00:00+01:00', '2026-03-16T09:00:00Z')");
    holds("same_time('2026-03-16', '2026-03-16') and same_time('2026-03-16T09:00', '2026-03-16T09:00:00')");
    does_not_hold("same_time('2026-03-16', '2026-03-17')");
    does_not_hold("same_time('2026-03-16T09:00:00', '2026-03-16T09:00:00Z')");
    does_not_hold("same_time(None, None) or same_time(None, '2026-03-16')");
    assert!(level("    return same_time('tomorrow', '2026-03-16')\n").is_err());
}

#[test]
fn seconds_between_times_without_an_offset_are_none() {
    holds("seconds_between('2026-03-16T09:00:00+01:00', '2026-03-16T08:00:30Z') == 30");
    for pair in ["'2026-03-16', '2026-03-17'", "'2026-03-16T09:00:00', '2026-03-16T09:00:00Z'", "None, '2026-03-16'"] {
        holds(&format!("seconds_between({pair}) == None"));
    }
    assert!(level("    return seconds_between('soon', '2026-03-16') == None\n").is_err());
}
