//! All committed material as the initial world of a scenario: it is loaded, played, stored as a log, executed again with the same bytes, and comes out of the world
//! as it went in.

use dayshift_engine::{Content, Frame, Looking};
use dayshift_replay::Reexecution;
use dayshift_scenarios::{Scenario, built_in};
use dayshift_services::Office;
use dayshift_tests::{Material, Specimen, played};

const AGENT: &str = "robin.vogt@nordkai.example";

#[test]
fn a_world_of_other_programs_files_is_played_and_replayed() {
    let material = Material::find();
    let kinds = [("mail", ".eml"), ("calendars", ".ics"), ("sheets", ""), ("files", "")];
    let specimens: Vec<Vec<Specimen>> =
        kinds.iter().map(|(folder, ending)| material.committed(folder, &[*ending])).collect();
    let mut package = built_in("payment-change-v1").expect("a built-in scenario");
    for ((kind, _), specimens) in kinds.iter().zip(&specimens) {
        for Specimen { name, bytes } in specimens {
            let name = file_name(name);
            let path = match *kind {
                "mail" => format!("world/mail/{AGENT}/Foreign/{name}"),
                "files" => format!("world/files/foreign/{name}"),
                kind => format!("world/{kind}/foreign-{name}"),
            };
            package = package.with_file(path, &bytes[..]).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
    }
    let scenario: Scenario<Office> = Scenario::load(package)
        .unwrap_or_else(|problems| panic!("{}", problems.iter().map(ToString::to_string).collect::<String>()));
    let run = played(&scenario, "noop", 7);
    let again = run.reexecute(|_| {}).expect("it is executed again");
    assert!(matches!(again, Reexecution::Same { .. }), "the log is not the same");

    let episode = run.episode_at(None).expect("it is read back");
    let (office, frame) = (episode.world(), Frame::new());
    let looking = Looking { time: episode.now(), frame: &frame, blobs: &**episode.blobs() };
    let load = |content: &Content| looking.load(content).map(|bytes| bytes.to_vec());
    let [mail, calendars, sheets, files] = &specimens[..] else { unreachable!("four kinds") };
    for (uid, Specimen { name, bytes }) in (1..).zip(mail) {
        let source = office.mail().source(&frame, AGENT, "Foreign", uid).expect("a message");
        assert!(load(source).as_ref() == Ok(bytes), "{name} comes out otherwise");
    }
    for Specimen { name, bytes } in calendars {
        let stem = file_name(name).trim_end_matches(".ics");
        let file = office.calendar().export(&format!("foreign-{stem}"), |content| looking.load(content));
        assert!(file.as_ref() == Ok(&Some(bytes.clone())), "{name} comes out otherwise");
    }
    for Specimen { name, bytes } in sheets {
        let (stem, ending) = file_name(name).rsplit_once('.').expect("an ending");
        let book = format!("foreign-{stem}");
        let file = match ending {
            "csv" => office.sheets().export_csv(&book, "", &looking),
            _ => office.sheets().export_xlsx(&book, &looking),
        };
        assert!(file.as_ref() == Ok(bytes), "{name} comes out otherwise");
    }
    for Specimen { name, bytes } in files {
        let content = office.files().content(&format!("/foreign/{}", file_name(name)), &frame).expect("a file");
        assert!(load(content).as_ref() == Ok(bytes), "{name} comes out otherwise");
    }
    let count: usize = specimens.iter().map(Vec::len).sum();
    assert!(count >= 60, "only {count} files are committed");
}

/// Returns the name of a specimen's file: what stands behind its origin.
fn file_name(name: &str) -> &str {
    name.rsplit_once(": ").map_or(name, |(_, name)| name)
}
