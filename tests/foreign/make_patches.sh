#!/bin/sh
# Writes patches as mail with `git format-patch`, in several of its forms, into material/mail. Deterministic for one version of git.
set -eu
out=$(cd "$(dirname "$0")" && mkdir -p material/mail && cd material/mail && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME='Zoë Björk' GIT_AUTHOR_EMAIL=zoe@git.example GIT_COMMITTER_NAME=Bob GIT_COMMITTER_EMAIL=bob@git.example
git init -q -b main .
commit() {
    export GIT_AUTHOR_DATE="$1" GIT_COMMITTER_DATE="$1"
    git add -A && git commit -q -m "$2"
}
printf 'one\ntwo\n' >a.txt
commit '2026-03-02T09:00:00 +0100' 'start'
printf 'one\nzwei\n' >a.txt
commit '2026-03-03T09:00:00 +0100' 'a: says it in German

The subject is short, the body is not: it says why, and where
the words come from.'
printf 'eins\nzwei\nGrüße\n' >a.txt
printf '\000\001\002\003\377' >blob.bin
commit '2026-03-04T09:00:00 -0800' 'a: Grüße, and a binary file with a subject that is long enough to be folded into a second line of the header'
git mv a.txt ä.txt
commit '2026-03-05T09:00:00 +0000' 'a: another name'
format() { git -c format.signature=git format-patch -q --no-numbered "$@"; }
format -o plain main~3
for patch in plain/*.patch; do cp "$patch" "$out/git-$(basename "$patch" .patch | cut -c1-4)-plain.eml"; done
format -o attached --attach=git-boundary --binary -1 main~1
cp attached/*.patch "$out/git-attached.eml"
format -o inline --inline=git-inline -1 main~2
cp inline/*.patch "$out/git-inline.eml"
format -o threaded --thread --to='Ann Lee <ann@acme.example>' --cc=bob@git.example --in-reply-to='<start@git.example>' --subject-prefix='PATCH v2 roof' main~2
# Message ids hold the moment of writing.
sed -i -E 's/\.[0-9]{10}\.git\./.1772787600.git./' threaded/*.patch
for patch in threaded/*.patch; do cp "$patch" "$out/git-$(basename "$patch" .patch | cut -c1-4)-threaded.eml"; done
