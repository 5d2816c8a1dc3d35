//! What is laid out of the workspace for a program, and what is taken over of its changes.

use dayshift_engine::{Applying, BlobId, Canonical, Context, Frame, Rejection, Seed, map};

use super::{bench_with, text};
use crate::files::{FILE_BYTES_MAX, FilesState, HostChange};
use crate::service::Service;
use crate::testing::Bench;

/// Takes over `changes` as the office does; returns the code if they are refused.
fn take_over(bench: &mut Bench<FilesState>, changes: &[HostChange<'_>]) -> Result<(), String> {
    let frame = Frame::new();
    let context = Context {
        seq: bench.seq,
        time: bench.time,
        actor: &bench.actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: Seed::new(1),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let code = |rejection: Rejection| rejection.code.into_owned();
    let events = bench.service.take_over(changes.iter().copied(), &context).map_err(code)?;
    bench.accesses = frame.close();
    let mut canonical = Canonical::default();
    for event in events {
        let mut applying = Applying::new(bench.seq, bench.time, &bench.actor, None, &mut canonical);
        bench.service.apply(event, &mut applying);
    }
    Ok(())
}

fn blob(bench: &Bench<FilesState>, bytes: &[u8]) -> BlobId {
    bench.blob(bytes).parse().expect("a name")
}

#[test]
fn everything_is_laid_out_folders_first_and_noted() {
    let mut bench = bench_with(&[("/b/c/d.txt", "d"), ("/a.txt", "aa")]);
    bench.call("files.make_folder", map! { "path" => "/b/empty" }).expect("made");
    let frame = Frame::new();
    let entries = bench.service.lay_out(5, 3, &frame).expect("it fits");
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["/a.txt", "/b", "/b/c", "/b/c/d.txt", "/b/empty"]);
    assert!(entries[1].content.is_none() && entries[0].content.is_some());
    let reads: Vec<String> = frame.close().reads.iter().map(|read| read.key.to_string()).collect();
    assert!(reads.contains(&"files:/b/c/*".to_owned()), "{reads:?}");
    for (entries, bytes) in [(4, 3), (5, 2)] {
        let refused = bench.service.lay_out(entries, bytes, &Frame::new()).expect_err("too much");
        assert_eq!(refused.code, "files/too-much-to-copy");
    }
}

#[test]
fn changes_are_taken_over_whatever_kind_of_entry_takes_the_place_of_which() {
    let mut bench = bench_with(&[("/file", "f"), ("/folder/inner", "i"), ("/stays", "s")]);
    let (small, large) = (blob(&bench, b"small"), blob(&bench, &[7; 2000]));
    let changes = [
        HostChange::Deleted("/file"),
        HostChange::Deleted("/folder"),
        HostChange::Folder("/file"),
        HostChange::File { path: "/file/in", blob: small, mode: 0o755 },
        HostChange::File { path: "/folder", blob: large, mode: 0o4644 },
    ];
    take_over(&mut bench, &changes).expect("taken over");
    assert_eq!(bench.accesses.blobs.len(), 2, "the record keeps both blobs");
    assert_eq!(text(&mut bench, "/file/in").as_deref(), Some("small"));
    assert_eq!(text(&mut bench, "/stays").as_deref(), Some("s"));
    let mode = |bench: &mut Bench<FilesState>, path: &str| {
        bench.call("files.stat", map! { "path" => path }).expect("there").get("mode").cloned()
    };
    assert_eq!(mode(&mut bench, "/file/in"), Some("0755".into()));
    assert_eq!(mode(&mut bench, "/folder"), Some("0644".into()), "no bits that give another's rights");
}

#[test]
fn changes_that_fit_no_workspace_are_refused_as_a_whole() {
    let mut bench = bench_with(&[("/a/b", "b")]);
    let before = bench.service.digest();
    let (small, large) = (blob(&bench, b"x"), blob(&bench, &vec![0; FILE_BYTES_MAX + 1]));
    let good = HostChange::File { path: "/good", blob: small, mode: 0o644 };
    let bad = [
        (HostChange::File { path: "/large", blob: large, mode: 0o644 }, "files/too-large"),
        (HostChange::File { path: "/a", blob: small, mode: 0o644 }, "files/is-a-folder"),
        (HostChange::File { path: "/../x", blob: small, mode: 0o644 }, "files/bad-path"),
        (HostChange::Folder("/"), "files/is-a-folder"),
        (HostChange::Deleted("relative"), "files/bad-path"),
    ];
    for (change, code) in bad {
        assert_eq!(take_over(&mut bench, &[good, change]), Err(code.to_owned()), "{change:?}");
    }
    assert_eq!(bench.service.digest(), before);
    assert_eq!(take_over(&mut bench, &[HostChange::Deleted("/")]), Ok(()));
    assert_eq!(bench.service.digest(), before, "the workspace itself is not deleted");
}
