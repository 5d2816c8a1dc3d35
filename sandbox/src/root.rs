//! What a command sees of the host: programs by name, the libraries that they need, and a little data. Everything else is not there: no folder of the
//! host as a whole, no /usr/local, no packages of Python, no home.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{chown, lchown};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use tempfile::TempDir;

use crate::WORKSPACE;

/// The programs that are offered, where the host has them.
const PROGRAMS: &str = "\
    bash sh dash env test [ true false yes echo printf expr seq sleep timeout nice nohup kill ps date id whoami uname hostname pwd ls \
    dir stat file du df find xargs tree which cat tac head tail less more nl wc sort uniq cut paste join comm tr fold fmt expand \
    unexpand column pr rev split csplit shuf tsort grep egrep fgrep rg sed awk gawk mawk perl diff diff3 sdiff cmp patch ed cp mv rm \
    mkdir rmdir ln touch chmod truncate dd mktemp mkfifo tee realpath readlink basename dirname pathchk sync install tar gzip gunzip \
    zcat zgrep bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zip unzip cpio ar base32 base64 basenc od xxd hexdump strings iconv \
    md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum bc dc jq numfmt factor cal sqlite3 pdftotext pdfinfo git \
    make nproc getopt tput clear locale localedef script";

/// Where the host's programs are looked for, in this order.
const PROGRAM_FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/usr/sbin"];

/// Data of the host that programs need, where it is there.
const DATA: [&str; 16] = [
    "/usr/lib/locale",
    "/usr/lib/file",
    "/usr/share/zoneinfo",
    "/usr/share/misc",
    "/usr/share/file",
    "/usr/share/awk",
    "/usr/share/perl",
    "/usr/share/perl5/core_perl",
    "/usr/share/poppler",
    "/usr/share/i18n",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/usr/lib/git-core",
    "/usr/libexec/git-core",
    "/usr/share/git-core",
    "/etc/mime.types",
];

/// Where Python is looked for: the first of these that has one.
const PYTHON_PREFIXES: [&str; 2] = ["/usr", "/usr/local"];

/// What no folder of libraries shows: packages that somebody installed there, this program's own among them.
const HIDDEN: [&str; 2] = ["site-packages", "dist-packages"];

/// When everything of the root was last changed, as a command sees it: on a day that says nothing (2000-01-01), in seconds.
const ROOT_SECONDS: i64 = 946_684_800;

/// What is mounted where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A file or folder of the host, unchangeable, at its own path.
    Bound(PathBuf),
    /// A link to a path.
    Link(PathBuf, PathBuf),
    /// An empty folder over one of the host.
    Hidden(PathBuf),
}

/// A root: a folder with the places to mount on, and what is mounted. The folder holds no content and goes away with its owner.
#[derive(Debug)]
pub(crate) struct Root<'a> {
    folder: TempDir,
    pieces: &'a [Piece],
}

impl<'a> Root<'a> {
    /// Lays out the places for `pieces`, for `owner` if it is somebody else.
    pub(crate) fn new(pieces: &'a [Piece], owner: Option<u32>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("dayshift-shell-").tempdir()?;
        let root = Self { folder, pieces };
        let tree = root.tree();
        fs::create_dir(&tree)?;
        for place in ["/proc", "/dev", "/tmp", "/etc", WORKSPACE] {
            fs::create_dir_all(inside(&tree, Path::new(place)))?;
        }
        fs::write(inside(&tree, Path::new("/etc/passwd")), "user:x:1000:1000:user:/tmp:/bin/bash\n")?;
        fs::write(inside(&tree, Path::new("/etc/group")), "user:x:1000:\n")?;
        for piece in pieces {
            root.place(piece)?;
        }
        if let Some(filter) = crate::filter::program() {
            fs::write(root.filter(), filter)?;
        }
        settle(&tree, owner)?;
        if let Some(owner) = owner {
            chown(root.folder.path(), Some(owner), Some(owner))?;
        }
        Ok(root)
    }

    /// Returns the arguments that make this the root.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["--bind".into(), self.tree().into(), "/".into()];
        for piece in self.pieces {
            match piece {
                Piece::Bound(path) => arguments.extend(["--ro-bind".into(), path.into(), path.into()]),
                // It is in the tree itself.
                Piece::Link(..) => {}
                Piece::Hidden(path) => {
                    arguments.extend(["--size", "4096", "--tmpfs"].map(OsString::from));
                    arguments.extend([path.into(), "--remount-ro".into(), path.into()]);
                }
            }
        }
        arguments
    }

    /// Returns where the filter of calls is, if there is one for this machine.
    pub(crate) fn filter(&self) -> PathBuf {
        self.folder.path().join("filter")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn place(&self, piece: &Piece) -> io::Result<()> {
        let (Piece::Bound(path) | Piece::Link(path, _) | Piece::Hidden(path)) = piece;
        let place = inside(&self.tree(), path);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        match piece {
            Piece::Bound(path) if path.is_dir() => fs::create_dir_all(&place),
            Piece::Bound(_) => File::create(&place).map(drop),
            Piece::Link(_, target) => std::os::unix::fs::symlink(target, &place),
            Piece::Hidden(_) => Ok(()),
        }
    }
}

/// Returns what there is on this host.
pub(crate) fn pieces() -> Vec<Piece> {
    let mut pieces = Vec::new();
    // Where the system's folders have moved below /usr, links stand in their places.
    for (path, target) in [("/bin", "usr/bin"), ("/sbin", "usr/sbin"), ("/lib", "usr/lib"), ("/lib64", "usr/lib64")] {
        if Path::new(path).is_symlink() {
            pieces.push(Piece::Link(path.into(), target.into()));
        }
    }
    pieces.extend(libraries().into_iter().flat_map(|folder| with_hidden(&folder)));
    pieces.extend(DATA.iter().map(PathBuf::from).filter(|path| path.exists()).map(Piece::Bound));
    for name in PROGRAMS.split(' ') {
        let found = PROGRAM_FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
        pieces.extend(found.into_iter().flat_map(program));
    }
    pieces.extend(python());
    let mut seen = std::collections::BTreeSet::new();
    pieces.retain(|piece| {
        let (Piece::Bound(path) | Piece::Link(path, _) | Piece::Hidden(path)) = piece;
        seen.insert(path.clone())
    });
    pieces
}

/// Returns a program, and for a link what it leads to.
fn program(path: PathBuf) -> Vec<Piece> {
    let Ok(real) = path.canonicalize() else { return Vec::new() };
    if real == path || path.starts_with("/bin") && Path::new("/bin").is_symlink() {
        return vec![Piece::Bound(path)];
    }
    // The name stands for what it leads to, wherever that is.
    let own = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].iter().any(|folder| real.parent() == Some(Path::new(folder)));
    if own { vec![Piece::Bound(real.clone()), Piece::Link(path, real)] } else { Vec::new() }
}

/// Returns the folders that hold the libraries of this machine.
fn libraries() -> Vec<PathBuf> {
    let machine = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_string_lossy().contains("-linux-"))
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        found.sort();
        found
    };
    let mut folders = machine("/usr/lib");
    if !Path::new("/lib").is_symlink() {
        folders.extend(machine("/lib"));
    }
    if folders.is_empty() {
        // Without a folder for each machine, all libraries are in one.
        folders.extend(["/usr/lib", "/lib"].map(PathBuf::from));
    }
    folders.extend(["/usr/lib64", "/lib64"].map(PathBuf::from));
    folders.retain(|folder| folder.is_dir() && !folder.is_symlink());
    folders
}

/// Returns Python: the program, its shared library and its standard library.
fn python() -> Vec<Piece> {
    let Some(prefix) = PYTHON_PREFIXES.iter().map(Path::new).find(|prefix| prefix.join("bin/python3").is_file()) else {
        return Vec::new();
    };
    let mut pieces = Vec::new();
    let name = prefix.join("bin/python3");
    let Ok(real) = name.canonicalize() else { return pieces };
    if !real.starts_with(prefix) {
        return pieces;
    }
    let version = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if real != name {
        pieces.push(Piece::Link(name, real.clone()));
    }
    pieces.push(Piece::Bound(real));
    for library in ["lib", "lib64"].map(|folder| prefix.join(folder)) {
        let standard = library.join(&version);
        if standard.is_dir() {
            pieces.extend(with_hidden(&standard));
        }
        let shared = fs::read_dir(&library).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_shared =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libpython"));
        if prefix != Path::new("/usr") {
            pieces.extend(shared.filter(is_shared).map(Piece::Bound));
        }
    }
    pieces
}

/// Returns a folder of libraries, with empty folders over what is hidden in it.
fn with_hidden(folder: &Path) -> Vec<Piece> {
    let mut pieces = vec![Piece::Bound(folder.to_owned())];
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if HIDDEN.contains(&&*name) || name.starts_with("dayshift") {
                pieces.push(Piece::Hidden(entry.path()));
            } else if depth == 0 && name.starts_with("python") {
                open.push((entry.path(), 1));
            }
        }
    }
    pieces
}

/// Gives `folder` and all that is below it their time and their owner.
fn settle(folder: &Path, owner: Option<u32>) -> io::Result<()> {
    let time = Timespec { tv_sec: ROOT_SECONDS, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    let mut paths = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        if path.symlink_metadata()?.is_dir() {
            for entry in fs::read_dir(&path)? {
                paths.push(entry?.path());
            }
        }
    }
    for path in paths.iter().rev() {
        if let Some(owner) = owner {
            lchown(path, Some(owner), Some(owner))?;
        }
        utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

fn inside(tree: &Path, path: &Path) -> PathBuf {
    tree.join(path.strip_prefix("/").unwrap_or(path))
}
