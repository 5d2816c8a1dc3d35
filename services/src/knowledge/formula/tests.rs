//! Formulas: the language, its functions, its errors and its limits.

use std::cell::Cell;

use dayshift_engine::map;
use proptest::prelude::*;

use super::*;

/// A row with a few properties, on Monday 2026-03-16 at nine in Berlin.
struct Row(Cell<u32>);

impl Surroundings for Row {
    fn property(&self, name: &str) -> Value {
        match name {
            "Hours" => Value::Int(7),
            "Name" => "Ann".into(),
            "Nothing" => Value::Null,
            "Tags" => vec!["x", "y"].into(),
            "Due" => "2026-03-20".into(),
            "Span" => map! { "start" => "2026-03-30", "end" => "2026-04-02", "zone" => Value::Null },
            _ => error("it is broken"),
        }
    }

    fn makes(&self, _bytes: usize) -> bool {
        true
    }

    fn step(&self) -> bool {
        self.0.set(self.0.get().saturating_sub(1));
        self.0.get() > 0
    }

    fn now(&self) -> (i64, chrono_tz::Tz) {
        let now: dayshift_engine::SimTime = "2026-03-16T08:00:00Z".parse().expect("a good time");
        (now.as_millis(), chrono_tz::Europe::Berlin)
    }
}

fn compute(source: &str) -> Value {
    let formula = Formula::read(source).unwrap_or_else(|fault| panic!("{source}: {fault}"));
    formula.compute(&Row(Cell::new(1_000)))
}

#[test]
fn formulas_come_to_what_notion_says() {
    for (source, value) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("2 ^ 3 ^ 2", "512"),
        ("-2 ^ 2", "-4"),
        ("7 / 2", "3.5"),
        ("7 % 4 - 10", "-7"),
        ("prop(\"Hours\") * 2", "14"),
        ("prop(\"Nothing\") + 1", "1"),
        ("prop('Name') + \" works \" + prop(\"Hours\")", "\"Ann works 7\""),
        ("concat(prop(\"Name\"), \": \", prop(\"Tags\"))", "\"Ann: x, y\""),
        ("if(prop(\"Hours\") > 5, \"long\", \"short\")", "\"long\""),
        ("if(empty(prop(\"Nothing\")), 0, 1 / 0)", "0"),
        ("prop(\"Hours\") > 5 and not (prop(\"Hours\") > 8)", "true"),
        ("false || !false && true", "true"),
        ("prop(\"Hours\") == 7.0 ? \"yes\" : \"no\"", "\"yes\""),
        ("prop(\"Due\") > today()", "true"),
        ("prop(\"Nothing\") > 1", "false"),
        ("dateAdd(prop(\"Due\"), 2, \"weeks\")", "\"2026-04-03\""),
        ("dateSubtract(\"2026-03-31\", 1, \"months\")", "\"2026-02-28\""),
        ("dateAdd(\"2026-03-28T09:00:00+01:00\", 1, \"days\")", "\"2026-03-29T09:00:00+02:00\""),
        ("dateBetween(prop(\"Due\"), today(), \"days\")", "4"),
        ("dateBetween(\"2026-03-15\", \"2026-01-31\", \"months\")", "1"),
        ("dateBetween(prop(\"Nothing\"), today(), \"days\")", "null"),
        ("dateEnd(prop(\"Span\"))", "\"2026-04-02\""),
        ("now()", "\"2026-03-16T09:00:00+01:00\""),
        ("year(prop(\"Due\")) * 100 + month(prop(\"Due\"))", "202603"),
        ("round(2.345, 2)", "2.35"),
        ("round(-2.5)", "-3"),
        ("min(3, prop(\"Hours\")) + max(1, 2) + abs(-1) + floor(1.5) + ceil(1.5) + sqrt(9)", "12"),
        ("length(prop(\"Name\")) + length(prop(\"Tags\"))", "5"),
        ("contains(prop(\"Tags\"), \"x\") and contains(upper(\"abc\"), \"B\")", "true"),
        ("toNumber(\"4.5\") + toNumber(true)", "5.5"),
        ("ifs(false, 1, true, 2, 3)", "2"),
    ] {
        let expected: Value = serde_json::from_str(value).expect("good JSON");
        assert_eq!(compute(source), expected, "{source}");
    }
}

#[test]
fn what_cannot_be_computed_is_an_error_as_a_value() {
    for (source, fault) in [
        ("1 / prop(\"Nothing\")", "division by zero"),
        ("prop(\"Other\") + 1", "it is broken"),
        ("prop(\"Name\") * 2", "'Ann' is no number"),
        ("if(prop(\"Name\"), 1, 2)", "\"Ann\" is neither true nor false"),
        ("10 ^ 1000", "the number is too large"),
        ("sqrt(-1)", "a negative number has no root"),
    ] {
        assert_eq!(compute(source), error(fault), "{source}");
    }
    let steps = Formula::read("1 + 1 + 1").expect("a good formula").compute(&Row(Cell::new(3)));
    assert_eq!(steps, error("it takes too many steps"));
}

#[test]
fn what_is_no_formula_is_refused_with_a_sentence() {
    for source in [
        "",
        "1 +",
        "(1",
        "1 2",
        "Hours",
        "prop(Hours)",
        "prop(\"x",
        "nonsense(1)",
        "round()",
        "round(1, 2, 3)",
        "1 $ 2",
        "if(1)",
        "1.2.3",
    ] {
        let fault = Formula::read(source).expect_err(source);
        assert!(!fault.is_empty(), "{source}");
    }
}

#[test]
fn the_length_of_a_formula_is_limited() {
    let text = |bytes: usize| Formula::read(&format!("\"{}\"", "x".repeat(bytes - 2))).is_ok();
    assert!(text(FORMULA_BYTES_MAX - 1));
    assert!(text(FORMULA_BYTES_MAX));
    assert!(!text(FORMULA_BYTES_MAX + 1));
}

#[test]
fn the_depth_of_a_formula_is_limited() {
    let nested = |depth: usize| Formula::read(&format!("{}1{}", "(".repeat(depth - 1), ")".repeat(depth - 1))).is_ok();
    assert!(nested(FORMULA_DEPTH_MAX - 1));
    assert!(nested(FORMULA_DEPTH_MAX));
    assert!(!nested(FORMULA_DEPTH_MAX + 1));
    let chain = |operators: usize| Formula::read(&format!("1{}", "+1".repeat(operators))).is_ok();
    assert!(chain(FORMULA_DEPTH_MAX - 1));
    assert!(chain(FORMULA_DEPTH_MAX));
    assert!(!chain(FORMULA_DEPTH_MAX + 1));
    assert!(!Formula::read(&"-".repeat(3_000)).is_ok_and(|_| true));
}

#[test]
fn the_length_of_a_text_that_a_formula_makes_is_limited() {
    let long = |bytes: usize| bounded("x".repeat(bytes)).is_ok();
    assert!(long(FORMULA_TEXT_BYTES_MAX - 1));
    assert!(long(FORMULA_TEXT_BYTES_MAX));
    assert!(!long(FORMULA_TEXT_BYTES_MAX + 1));
}

proptest! {
    #[test]
    fn arbitrary_formulas_never_panic(source in "[a-zA-Z0-9\"'()+*/%^<>=!&|?:,. -]{0,60}") {
        if let Ok(formula) = Formula::read(&source) {
            formula.compute(&Row(Cell::new(1_000)));
        }
    }

    #[test]
    fn sums_and_products_agree_with_arithmetic(a in -1000_i64..1000, b in -1000_i64..1000, c in -1000_i64..1000) {
        prop_assert_eq!(compute(&format!("({a}) + ({b}) * ({c})")), Value::Int(a + b * c));
    }
}
