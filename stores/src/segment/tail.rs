//! The end of the segment files: where the next frame goes. A background thread has the next file ready, filled with zeroes, so that a commit
//! never waits for the file system to find room (doing it inline stalls hundreds of milliseconds) and `fdatasync` has no metadata to write.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::JoinHandle;

use crate::error::StoreError;
use crate::folder::sync_dir;
use crate::frame::FrameWriter;
use crate::segment::scan::LastFile;

/// The size of a full segment file (64 MiB).
const SEGMENT_BYTES: u64 = 64 << 20;

/// How much room the first commit after opening makes by itself (1 MiB). Later files are larger, step by step.
const FIRST_ROOM_BYTES: u64 = 1 << 20;

const STEP: u64 = 8;

/// Returns the name of a segment file.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number:08}.segment")
}

/// A frame that is durable.
pub(crate) struct Written {
    pub(crate) file_number: u64,
    pub(crate) file: Arc<File>,
    pub(crate) at: u64,
}

/// The writing end.
#[derive(Debug)]
pub(crate) struct Tail {
    log: PathBuf,
    current: Current,
    /// The next file, while and after it is filled.
    next: Option<Next>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Current {
    number: u64,
    path: PathBuf,
    file: Arc<File>,
    /// Where the next frame goes.
    at: u64,
    /// How far the file is filled with zeroes.
    room: u64,
    /// Where that room began.
    begun: u64,
}

#[derive(Debug)]
struct Next {
    ready: Receiver<Result<Current, StoreError>>,
    filler: JoinHandle<()>,
}

impl Tail {
    /// Goes on after what the scan found.
    pub(crate) fn new(log: &Path, last: Option<LastFile>) -> Result<Self, StoreError> {
        let current = match last {
            Some(LastFile { number, path, end }) => {
                let file = File::options().read(true).write(true).open(&path).map_err(StoreError::io("open", &path))?;
                Current { number, path, file: Arc::new(file), at: end, room: end, begun: end }
            }
            None => {
                let made = make_file(log, 1, 0)?;
                sync_dir(log)?;
                made
            }
        };
        Ok(Self { log: log.to_owned(), current, next: None, buffer: Vec::new() })
    }

    /// Returns a buffer to build the next frame in.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Writes a frame and waits until it is durable.
    pub(crate) fn write(&mut self, frame: FrameWriter) -> Result<Written, StoreError> {
        if self.current.at >= self.current.room {
            self.turn_or_widen()?;
        }
        let at = self.current.at;
        let bytes = frame.finish(at);
        let Current { path, file, .. } = &self.current;
        file.write_all_at(&bytes, at).map_err(StoreError::io("write", path))?;
        file.sync_data().map_err(StoreError::io("sync", path))?;
        self.current.at += bytes.len() as u64;
        self.buffer = bytes;
        let Current { at: end, room, begun, .. } = self.current;
        if self.next.is_none() && (end - begun) * 2 > room.saturating_sub(begun) {
            self.fill_next();
        }
        Ok(Written { file_number: self.current.number, file: Arc::clone(&self.current.file), at })
    }

    /// Cuts the zeroes off, so that a closed store takes no more room than its frames.
    pub(crate) fn close(&mut self) {
        if let Some(next) = self.next.take() {
            let _it_reports_through_its_channel = next.filler.join();
            if let Ok(Ok(unused)) = next.ready.recv() {
                let _an_empty_file_is_legal = fs::remove_file(&unused.path);
            }
        }
        let file = &self.current.file;
        let _zeroes_are_legal = file.set_len(self.current.at).and_then(|()| file.sync_all());
    }

    /// Goes on in the next file if it is ready, and makes a little room in this one if it is not.
    fn turn_or_widen(&mut self) -> Result<(), StoreError> {
        let outcome = self.next.as_ref().map(|next| next.ready.try_recv());
        match outcome {
            Some(Ok(Ok(ready))) => {
                self.next = None;
                self.current = ready;
                return Ok(());
            }
            // Without a next file this one grows: slower, not less durable.
            Some(Ok(Err(_)) | Err(TryRecvError::Disconnected)) => self.next = None,
            Some(Err(TryRecvError::Empty)) | None => {}
        }
        let Current { path, file, at, room, begun, .. } = &mut self.current;
        *begun = *at;
        if fill(file, *at, FIRST_ROOM_BYTES).and_then(|()| file.sync_all()).is_ok() {
            *room = *at + FIRST_ROOM_BYTES;
        } else {
            // A full disk shows here first; the frame itself may still fit into what is left.
            file.set_len(*at).map_err(StoreError::io("shorten", path))?;
        }
        Ok(())
    }

    fn fill_next(&mut self) {
        let (log, number) = (self.log.clone(), self.current.number + 1);
        let bytes =
            (self.current.room.saturating_sub(self.current.begun) * STEP).clamp(FIRST_ROOM_BYTES, SEGMENT_BYTES);
        let (tell, ready) = sync_channel(1);
        let filler = std::thread::Builder::new().name("dayshift-fill".to_owned()).spawn(move || {
            let made = make_file(&log, number, bytes).and_then(|made| sync_dir(&log).map(|()| made));
            if made.is_err() {
                let _best_effort = fs::remove_file(log.join(file_name(number)));
            }
            let _nobody_waits_after_closing = tell.send(made);
        });
        self.next = filler.ok().map(|filler| Next { ready, filler });
    }
}

/// Makes a segment file that begins with its description and is filled with zeroes up to `bytes`.
fn make_file(log: &Path, number: u64, bytes: u64) -> Result<Current, StoreError> {
    let path = log.join(file_name(number));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.map_err(StoreError::io("create", &path))?;
    let mut frame = FrameWriter::new();
    frame.file(&description(number));
    let described = frame.finish(0);
    let at = described.len() as u64;
    let filled = file.write_all_at(&described, 0).and_then(|()| fill(&file, at, bytes.saturating_sub(at)));
    filled.and_then(|()| file.sync_all()).map_err(StoreError::io("fill", &path))?;
    Ok(Current { number, path, file: Arc::new(file), at, room: bytes.max(at), begun: at })
}

/// Returns what the first entry of a segment file says.
pub(crate) fn description(number: u64) -> Vec<u8> {
    [b"segment ".as_slice(), &number.to_le_bytes()].concat()
}

fn fill(file: &File, at: u64, bytes: u64) -> std::io::Result<()> {
    let zeroes = [0; 64 << 10];
    let mut done = 0;
    while done < bytes {
        let step = (bytes - done).min(zeroes.len() as u64);
        file.write_all_at(&zeroes[..usize::try_from(step).unwrap_or(zeroes.len())], at + done)?;
        done += step;
    }
    Ok(())
}
