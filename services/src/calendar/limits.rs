//! The limits of what can grow in calendars. Each is tested at, below and above.

/// The most calendars.
pub const CALENDARS_MAX: usize = 1_000;
/// The most events in one calendar; a series with its exceptions counts once.
pub const EVENTS_MAX: usize = 20_000;
/// The longest name of a calendar, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// The longest summary or location, in bytes.
pub const LINE_BYTES_MAX: usize = 1_000;
/// The longest description, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 64 << 10;
/// The longest text to search for, in bytes.
pub const SEARCH_TEXT_BYTES_MAX: usize = 500;
/// The most attendees of one event.
pub const ATTENDEES_MAX: usize = 200;
/// The longest address of an attendee, in bytes (RFC 5321, 4.5.3.1.3 without its angle brackets).
pub const ADDRESS_BYTES_MAX: usize = 254;
/// The largest iCalendar file that can be imported, in bytes (16 MiB).
pub const FILE_BYTES_MAX: usize = 16 << 20;
/// The largest single component (an event, a time zone) of such a file, in bytes (1 MiB).
pub const COMPONENT_BYTES_MAX: usize = 1 << 20;
/// The deepest that components may nest before a file is refused: the parser takes its result apart recursively.
pub const COMPONENT_DEPTH_MAX: usize = 16;
/// The most instances that one call may look at: a range that holds more is refused.
pub const INSTANCES_MAX: usize = 5_000;
/// The most events that one call shows.
pub const PAGE_MAX: usize = 500;
/// How many events a call shows if it does not say.
pub const PAGE_DEFAULT: usize = 100;
/// The largest COUNT of a rule.
pub const RULE_COUNT_MAX: u32 = 5_000;
/// The most instances of a rule within 24 hours (every quarter of an hour).
pub const RULE_INSTANCES_PER_DAY_MAX: usize = 96;
/// The most steps of a rule within 24 hours, whether or not they are instances.
pub const RULE_STEPS_PER_DAY_MAX: i64 = 1_440;
/// The longest text of a rule, in bytes.
pub const RULE_BYTES_MAX: usize = 1_000;
/// The most rules, extra dates and exception dates of one event.
pub const RECURRENCE_DATES_MAX: usize = 5_000;
/// The most rules of one event.
pub const RULES_MAX: usize = 8;
/// The most changed instances (exceptions) of one series.
pub const EXCEPTIONS_MAX: usize = 1_000;
/// The longest that an event may last, in days.
pub const DURATION_DAYS_MAX: i64 = 3_660;
