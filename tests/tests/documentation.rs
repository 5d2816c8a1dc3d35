//! What the documentation shows is tried: the complete example of docs/scenario-format.md is a package that loads and can be solved.

use dayshift_scenarios::{Package, Scenario};
use dayshift_services::Office;
use dayshift_tests::played;

const FORMAT: &str = include_str!("../../docs/scenario-format.md");

/// Returns the files of the example: every fenced block whose first line names one.
fn example() -> Vec<(String, Vec<u8>)> {
    let blocks = FORMAT.split("```").skip(1).step_by(2);
    let named = blocks.filter_map(|block| {
        let (_, body) = block.split_once('\n')?;
        let (first, rest) = body.split_once('\n')?;
        let path = first.strip_prefix("# refund-v1/")?.split_whitespace().next()?;
        // The naming line stays: it is a comment in YAML and in Starlark.
        let text = if path.ends_with(".eml") { rest.to_owned() } else { body.to_owned() };
        Some((path.to_owned(), text.into_bytes()))
    });
    named.collect()
}

#[test]
fn the_example_of_the_format_loads_and_its_solution_solves_it() {
    let files = example();
    assert!(files.len() >= 5, "{:?}", files.iter().map(|(path, _)| path).collect::<Vec<_>>());
    let package = Package::from_files("refund-v1", files).expect("the files are a package");
    let scenario: Scenario<Office> = Scenario::load(package).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    let report = played(&scenario, "reference", 7).grade(None).expect("it is graded");
    let levels: Vec<_> = report
        .verdicts
        .iter()
        .map(|verdict| (verdict.spec.id.as_str(), verdict.level, verdict.error.clone()))
        .collect();
    assert!(report.strict && report.score == 1.0, "{levels:?}");
}
