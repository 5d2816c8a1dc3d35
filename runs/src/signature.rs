//! Signatures over closed episodes: who vouches for which history. A statement names the head of the log together with scenario, seed, agent
//! and engine, one line each; its UTF-8 bytes are signed with Ed25519 (RFC 8032), and keys are PEM (RFC 8410), so that other tools can check
//! them: see docs/trust.md. A signature rests in the note beside the log, in a store as in a file. Entropy is the caller's.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dayshift_engine::codec::Stored;
use dayshift_engine::{BlobId, Head, RecordHash, Request, SmolStr};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::note::RunNote;
use crate::run::Run;

/// What comes ahead of the 32 bytes of a private key in PKCS#8 (RFC 8410, section 7).
const PRIVATE_PREFIX: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// What comes ahead of the 32 bytes of a public key in a SubjectPublicKeyInfo (RFC 8410, section 4).
const PUBLIC_PREFIX: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// The longest key file that is read, in bytes.
const KEY_FILE_BYTES_MAX: u64 = 4096;

/// The name of the key with which a store signs, in its folder.
const STORE_KEY: &str = "key.pem";

/// A private key. Nothing prints it.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

/// A public key; shown and compared as the base64 of its 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

/// A signature, as it rests in a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The public key, base64.
    pub key: String,
    /// The version of the engine that played the episode.
    pub engine: String,
    /// The 64 bytes of the signature, base64.
    pub signature: String,
}

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The scenario's id.
    pub scenario: SmolStr,
    /// The digest of the scenario's package.
    pub digest: BlobId,
    /// The seed.
    pub seed: u64,
    /// Who played.
    pub agent: String,
    /// The version of the engine.
    pub engine: String,
    /// Where the log ends.
    pub head: Head,
}

/// How a log stands to the signature beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SignatureState {
    /// There is none.
    Unsigned,
    /// It is a signature of this log.
    Valid {
        /// By which key, base64.
        key: String,
        /// Whether the reader named that key as one to be trusted. Anybody can make a key.
        trusted: bool,
    },
    /// It is no signature of this log by that key.
    Invalid {
        /// The key that is claimed.
        key: String,
    },
}

impl SecretKey {
    /// Returns the key that `entropy` makes. It must come from a source that nobody can guess.
    #[must_use]
    pub fn from_entropy(entropy: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&entropy))
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Reads a key file.
    ///
    /// # Errors
    ///
    /// [`RunError::Key`] when it cannot be read, is no private key, or can be read by others than its owner.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let text = read_text(path)?;
        if open_to_others(path) {
            return Err(fault(
                path,
                "others than its owner can read it: `chmod 600` it, and make a new one if somebody did",
            ));
        }
        let bytes = from_pem(&text, "PRIVATE KEY", &PRIVATE_PREFIX)
            .ok_or_else(|| fault(path, "it is not an Ed25519 private key in PEM; `dayshift key new` makes one"))?;
        Ok(Self::from_entropy(bytes))
    }

    /// Writes the key to a new file that only its owner can read, and the public key to the same name with `.pub` behind it, whose path is
    /// returned.
    ///
    /// # Errors
    ///
    /// [`RunError::Key`] when one of them is there already or cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<PathBuf, RunError> {
        let mut public = path.as_os_str().to_owned();
        public.push(".pub");
        let public = PathBuf::from(public);
        write_new(&public, &to_pem("PUBLIC KEY", &PUBLIC_PREFIX, &self.public().0), 0o644)?;
        write_new(path, &to_pem("PRIVATE KEY", &PRIVATE_PREFIX, &self.0.to_bytes()), 0o600)?;
        Ok(public)
    }

    /// Returns the path of the key with which the store in `folder` signs.
    #[must_use]
    pub fn path_in_store(folder: &Path) -> PathBuf {
        folder.join(STORE_KEY)
    }

    /// Reads the key with which the store in `folder` signs, if it has one.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn of_store(folder: &Path) -> Result<Option<Self>, RunError> {
        let path = Self::path_in_store(folder);
        if path.exists() { Self::read(&path).map(Some) } else { Ok(None) }
    }

    /// Signs what `records` and the agent's name say.
    ///
    /// # Errors
    ///
    /// [`RunError::Unfinished`] when the episode has not ended; [`RunError::Codec`] or [`RunError::Replay`] when the records are no log.
    pub fn sign(&self, records: &[std::sync::Arc<[u8]>], agent: &str) -> Result<Signature, RunError> {
        let engine = env!("CARGO_PKG_VERSION").to_owned();
        let statement = Statement::of(records, agent, &engine)?;
        let signature = STANDARD.encode(self.0.sign(statement.to_text().as_bytes()).to_bytes());
        Ok(Signature { key: self.public().to_string(), engine, signature })
    }
}

impl PublicKey {
    /// Reads a public key from the file `given` (PEM), or from the base64 of its 32 bytes.
    ///
    /// # Errors
    ///
    /// [`RunError::Key`] when it is neither.
    pub fn read(given: &str) -> Result<Self, RunError> {
        let path = Path::new(given);
        if !path.is_file()
            && let Some(key) = Self::from_base64(given)
        {
            return Ok(key);
        }
        let text = read_text(path)?;
        let bytes = from_pem(&text, "PUBLIC KEY", &PUBLIC_PREFIX).ok_or_else(|| {
            fault(
                path,
                "it is not an Ed25519 public key: give the .pub file of `dayshift key new`, or the key's base64",
            )
        })?;
        Ok(Self(bytes))
    }

    fn from_base64(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns whether `signature` is this key's over `statement`.
    #[must_use]
    pub fn verifies(&self, statement: &Statement, signature: &Signature) -> bool {
        let made = STANDARD.decode(&signature.signature).ok().and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        let (Some(made), Ok(key)) = (made, VerifyingKey::from_bytes(&self.0)) else { return false };
        let made = ed25519_dalek::Signature::from_bytes(&made);
        key.verify_strict(statement.to_text().as_bytes(), &made).is_ok()
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&STANDARD.encode(self.0))
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PublicKey({self})")
    }
}

impl Statement {
    /// Returns the statement about a closed log.
    ///
    /// # Errors
    ///
    /// [`RunError::Unfinished`] when the episode has not ended; [`RunError::Codec`] or [`RunError::Replay`] when the records are no log.
    pub fn of(records: &[std::sync::Arc<[u8]>], agent: &str, engine: &str) -> Result<Self, RunError> {
        let not_opened = dayshift_replay::ReplayError::NotOpened;
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return Err(not_opened.into()) };
        let Request::Genesis { scenario, digest, .. } = Stored::new(first)?.head()?.request else {
            return Err(not_opened.into());
        };
        if Stored::new(last)?.head()?.request != Request::Close {
            return Err(RunError::Unfinished);
        }
        let head = Head { count: records.len() as u64, hash: RecordHash::of(last) };
        let (agent, engine) = (agent.to_owned(), engine.to_owned());
        Ok(Self { scenario, digest, seed: Run::seed_of(records)?, agent, engine, head })
    }

    /// Returns what is signed: eight lines. Names are JSON strings, so that no name can look like another line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let Self { scenario, digest, seed, agent, engine, head } = self;
        format!(
            "dayshift signature 1\nscenario {}\ndigest {digest}\nseed {seed}\nagent {}\nengine {}\nrecords {}\nhead {}\n",
            quoted(scenario),
            quoted(agent),
            quoted(engine),
            head.count,
            head.hash
        )
    }
}

/// Returns how `records` stand to the signature in `note`, of which `trusted` names the keys that the reader trusts.
#[must_use]
pub fn signature_state(records: &[std::sync::Arc<[u8]>], note: &RunNote, trusted: &[PublicKey]) -> SignatureState {
    let Some(signature) = &note.signature else { return SignatureState::Unsigned };
    let key = PublicKey::from_base64(&signature.key);
    let statement = Statement::of(records, &note.agent, &signature.engine);
    match (key, statement) {
        (Some(key), Ok(statement)) if key.verifies(&statement, signature) => {
            SignatureState::Valid { key: key.to_string(), trusted: trusted.contains(&key) }
        }
        _ => SignatureState::Invalid { key: signature.key.clone() },
    }
}

fn fault(path: &Path, reason: impl Into<String>) -> RunError {
    RunError::Key { path: path.to_owned(), reason: reason.into() }
}

fn read_text(path: &Path) -> Result<String, RunError> {
    let meta = fs::metadata(path).map_err(|error| fault(path, format!("it cannot be read: {error}")))?;
    if !meta.is_file() || meta.len() > KEY_FILE_BYTES_MAX {
        return Err(fault(path, "it is not a key file"));
    }
    fs::read_to_string(path).map_err(|error| fault(path, format!("it cannot be read: {error}")))
}

fn to_pem(label: &str, prefix: &[u8], key: &[u8; 32]) -> String {
    let body = STANDARD.encode([prefix, key].concat());
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

fn from_pem(text: &str, label: &str, prefix: &[u8]) -> Option<[u8; 32]> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()?.strip_prefix(prefix)?.try_into().ok()
}

#[cfg(unix)]
fn open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn open_to_others(_path: &Path) -> bool {
    false
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), RunError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| fault(path, format!("it cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement() -> Statement {
        Statement {
            scenario: "a-v1".into(),
            digest: BlobId::of(b"package"),
            seed: 7,
            agent: "script:x\nhead 00".to_owned(),
            engine: "0.1.0".to_owned(),
            head: Head { count: 3, hash: RecordHash::of(b"record") },
        }
    }

    fn signed(key: &SecretKey, statement: &Statement) -> Signature {
        let signature = STANDARD.encode(key.0.sign(statement.to_text().as_bytes()).to_bytes());
        Signature { key: key.public().to_string(), engine: statement.engine.clone(), signature }
    }

    #[test]
    fn a_signature_holds_for_its_own_statement_and_key_alone() {
        let (key, other) = (SecretKey::from_entropy([1; 32]), SecretKey::from_entropy([2; 32]));
        let signature = signed(&key, &statement());
        assert!(key.public().verifies(&statement(), &signature));
        assert!(!other.public().verifies(&statement(), &signature));
        let changes: [fn(&mut Statement); 6] = [
            |changed| changed.scenario = "b-v1".into(),
            |changed| changed.digest = BlobId::of(b"other"),
            |changed| changed.seed = 8,
            |changed| changed.agent.push('x'),
            |changed| changed.engine.push('x'),
            |changed| changed.head.count = 4,
        ];
        for change in changes {
            let mut changed = statement();
            change(&mut changed);
            assert!(!key.public().verifies(&changed, &signature), "{changed:?}");
        }
    }

    #[test]
    fn a_name_cannot_look_like_another_line_of_the_statement() {
        assert_eq!(statement().to_text().lines().count(), 8);
        assert!(statement().to_text().contains(r#"agent "script:x\nhead 00""#));
    }

    #[test]
    fn the_key_of_rfc_8032_signs_as_the_rfc_says() {
        // Section 7.1, test 1: the empty message.
        let secret = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let key = SecretKey::from_entropy(secret.try_into().expect("32 bytes"));
        assert_eq!(key.public().0.to_vec(), hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
        let made = key.0.sign(b"").to_bytes().to_vec();
        let wanted = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                      d25bf5f0595bbe24655141438e7a100b";
        assert_eq!(made, hex(wanted));
    }

    #[test]
    fn a_key_comes_back_from_its_file_and_is_never_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key.pem");
        let key = SecretKey::from_entropy([3; 32]);
        let public = key.write_new(&path).expect("it is written");
        assert_eq!(SecretKey::read(&path).expect("it is read").public(), key.public());
        assert_eq!(PublicKey::read(&public.display().to_string()).expect("it is read"), key.public());
        assert_eq!(PublicKey::read(&key.public().to_string()).expect("base64"), key.public());
        assert!(matches!(key.write_new(&path), Err(RunError::Key { .. })));
        assert!(matches!(SecretKey::read(&public), Err(RunError::Key { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_private_key_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key.pem");
        SecretKey::from_entropy([3; 32]).write_new(&path).expect("it is written");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is opened to others");
        let error = SecretKey::read(&path).err().expect("it is refused");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
    }
}
