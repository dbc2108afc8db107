#!/usr/bin/env bash
# Backups of Lethe in an S3-compatible store, encrypted by age and carried by rclone: docs/operate.md.
#
#   offsite-backup.sh backup                     data, then keys, then the ledger of erasures
#   offsite-backup.sh ledger                     the ledger alone; more often than the backup
#   offsite-backup.sh list                       the finished backups
#   offsite-backup.sh fetch DIRECTORY [BACKUP]   the newest one, or this one, decrypted, with the newest keys and ledger
#   offsite-backup.sh drill [FLAGS]              fetches the newest one and verifies it; the flags are those of backup:drill,
#                                                on PostgreSQL --max-age-days N alone
#
# Settings:
#   OFFSITE_REMOTE               what rclone calls the place of the backups, for example offsite:lethe-backups
#   OFFSITE_LEDGER_REMOTE        another place, for the ledger
#   OFFSITE_RECIPIENTS           a file with the public keys of age, one on each line
#   OFFSITE_IDENTITY             the file of a secret key, for fetch and drill alone
#   OFFSITE_WORK                 a directory for what is under way, by default /var/tmp/lethe-offsite-backup
#   OFFSITE_ADMIN                the command line of Lethe, by default: npm run --silent admin --
#   OFFSITE_DRILL_DATABASE_URL   an empty PostgreSQL database, for drill; its role is no superuser, and its server holds nothing else
#   DATABASE_URL                 that of Lethe; for PostgreSQL pg_dump, pg_restore and psql have to be there
#   DATABASE_DIRECT_URL          that of Lethe behind a pooler; what pg_dump sets for its session would stay with the pooler
set -euo pipefail
shopt -s inherit_errexit
umask 077

say() { printf '%s\n' "$*" >&2; }
die() { say "offsite-backup: $*"; exit 1; }
needs() { local name; for name in "$@"; do [ -n "${!name:-}" ] || die "set $name"; done; }

read -ra admin <<< "${OFFSITE_ADMIN:-npm run --silent admin --}"
lethe() { "${admin[@]}" "$@" < /dev/null >&2; }
on_postgres() { [[ ${DATABASE_URL:-} == postgres* ]]; }

decoded() { printf '%b' "$(printf '%s' "$1" | sed -E 's/\\/&&/g; s/%([0-9A-Fa-f]{2})/\\x\1/g')"; }

# postgres URL PROGRAM [ARGUMENT]...: the password of the URL is in the environment of the program. Every user of the machine can
# read its arguments.
postgres() {
  local url=$1 program=$2 password='' user
  shift 2
  if [[ $url =~ ^([a-z]+://)([^/?#]*)@(.*)$ && ${BASH_REMATCH[2]} == *:* ]]; then
    user="${BASH_REMATCH[2]%%:*}"
    password="${BASH_REMATCH[2]#*:}"
    url="${BASH_REMATCH[1]}$user@${BASH_REMATCH[3]}"
  fi
  if [[ $url =~ ^([^?]*\?)(.*&)?password=([^&]*)(&(.*))?$ ]]; then
    password="${BASH_REMATCH[3]}"
    url="${BASH_REMATCH[1]}${BASH_REMATCH[2]}${BASH_REMATCH[5]}"
  fi
  if [ -z "$password" ]; then
    "$program" --dbname="$url" "$@"
  else
    PGPASSWORD="$(decoded "$password")" "$program" --dbname="$url" "$@"
  fi
}

digest() { local sum; sum="$(sha256sum)"; printf '%s' "${sum%% *}"; }

TIME='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z$'
now() { date -u +%Y-%m-%dT%H-%M-%SZ; }
time="$(now)"

# begin [KIND]: nothing of a run outlives it. What a killed one has left is removed by the next of its kind. Runs of different
# kinds do not wait for each other.
begin() {
  local kind=${1:-} base="${OFFSITE_WORK:-/var/tmp/lethe-offsite-backup}"
  # With a slash at its end a link counts as what it leads to.
  base="${base%"${base##*[!/]}"}"
  mkdir -p "$base"
  [ ! -L "$base" ] || die "$base is a symbolic link: set OFFSITE_WORK to a directory"
  # One look, which follows no link that comes in between.
  [ "$(LC_ALL=C stat -c '%u %F' "$base")" = "$EUID directory" ] || die "$base belongs to another user: set OFFSITE_WORK"
  chmod 700 "$base"
  exec 9> "$base/lock${kind:+.$kind}"
  flock -n 9 || die "another run works in $base"
  work="$base/${kind:-run}"
  rm -rf "$work"
  mkdir "$work"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM HUP
}

# send REMOTE PART...: each file of $work/PART is encrypted and sent as PART/TIME/FILE.age. The mark done/TIME.sha256 comes
# last: without it a backup is not finished. Nothing is renamed or deleted, so the store need not allow either.
send() {
  local remote=$1 part file name sum sent
  shift
  : > "$work/mark"
  for part in "$@"; do
    for file in "$work/$part"/*; do
      name="$part/$time/${file##*/}.age"
      age --encrypt --recipients-file "$OFFSITE_RECIPIENTS" --output "$work/sealed" "$file"
      rm -f "$file"
      sum="$(digest < "$work/sealed")"
      rclone copyto --immutable "$work/sealed" "$remote/$name" || die "$remote/$name could not be sent"
      sent="$(rclone cat "$remote/$name" | digest)"
      [ "$sum" = "$sent" ] || die "$remote/$name is not what was sent: nothing counts as a backup before the next run"
      printf '%s  %s\n' "$sum" "$name" >> "$work/mark"
      rm -f "$work/sealed"
    done
  done
  rclone copyto --immutable "$work/mark" "$remote/done/$time.sha256" || die "$remote/done/$time.sha256 could not be sent"
}

# One at a time, for files of one second have the same names. A ledger that began with this backup has its time.
send_ledger() {
  exec 8> "${work%/*}/lock.send"
  flock 8
  time="$(now)"
  mkdir "$work/ledger"
  lethe ledger:export --out "$work/ledger/ledger.ndjson"
  send "$OFFSITE_LEDGER_REMOTE" ledger
  say "The ledger $time is in $OFFSITE_LEDGER_REMOTE."
}

requires_recipients() {
  needs OFFSITE_REMOTE OFFSITE_LEDGER_REMOTE OFFSITE_RECIPIENTS
  [[ ${OFFSITE_LEDGER_REMOTE%/}/ != "${OFFSITE_REMOTE%/}"/* ]] || die 'OFFSITE_LEDGER_REMOTE must be another place than OFFSITE_REMOTE'
  age --encrypt --recipients-file "$OFFSITE_RECIPIENTS" < /dev/null > /dev/null ||
    die "$OFFSITE_RECIPIENTS is no file of public keys of age (age1…)"
  local count
  count="$(grep -c '^[^#[:space:]]' "$OFFSITE_RECIPIENTS")"
  [ "$count" -gt 1 ] || say "One key alone opens these backups. Add a second one, whose secret part is kept elsewhere."
}

# The keys come second: they must not be older than the data.
backup() {
  if on_postgres; then
    mkdir "$work/data" "$work/keys"
    postgres "${DATABASE_DIRECT_URL:-$DATABASE_URL}" pg_dump -Fc --exclude-schema=keys -f "$work/data/data.dump"
    postgres "${DATABASE_DIRECT_URL:-$DATABASE_URL}" pg_dump -Fc --schema=keys -f "$work/keys/keys.dump"
  else
    lethe backup --to "$work/data" --only data
    lethe backup --to "$work/keys" --only keys
  fi
  send "$OFFSITE_REMOTE" data keys
  say "The backup $time is in $OFFSITE_REMOTE."
  send_ledger
}

# The times of the finished backups in REMOTE, the oldest first.
finished() {
  local name status=0 names
  names="$(rclone lsf "$1/done")" || status=$?
  # 3: there is no such directory yet.
  [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || die "$1 cannot be read"
  while read -r name; do
    name="${name%.sha256}"
    if [[ $name =~ $TIME ]]; then printf '%s\n' "$name"; fi
  done <<< "$names" | sort
}

# A mark of later than now would be the newest until its time comes, and hide that none follows. Clocks differ by up to an hour.
newest_of() {
  local all newest soon
  all="$(finished "$1")"
  [ -n "$all" ] || die "$1 has no finished backup"
  newest="${all##*$'\n'}"
  soon="$(date -u -d "@$(($(date +%s) + 3600))" +%Y-%m-%dT%H-%M-%SZ)"
  [[ ! $newest > $soon ]] ||
    die "the newest mark, $1/done/$newest.sha256, is later than now: correct the clock, or move the mark away if it was made with a clock that was ahead"
  printf '%s' "$newest"
}

# take REMOTE TIME PART DIRECTORY: fetches what the mark names, and decrypts what is as the mark says. A store is trusted in no
# name.
take() {
  local remote=$1 at=$2 part=$3 to=$4 sum name found
  local named="^$part/$at/([a-z]+\.[a-z]+)\.age$"
  rclone cat "$remote/done/$at.sha256" > "$work/mark" || die "$remote has no finished backup $at"
  mkdir "$to"
  while read -r sum name <&3; do
    [[ $name =~ $named ]] || continue
    found="${BASH_REMATCH[1]}"
    rclone copyto "$remote/$name" "$work/sealed" || die "$remote/$name cannot be fetched"
    [ "$(digest < "$work/sealed")" = "$sum" ] || die "$remote/$name is damaged: take another backup of list"
    age --decrypt --identity "$OFFSITE_IDENTITY" --output "$to/$found" "$work/sealed" ||
      die "$remote/$name cannot be decrypted by the key in $OFFSITE_IDENTITY"
    rm -f "$work/sealed"
  done 3< "$work/mark"
  [ -n "${found:-}" ] || die "$remote has no $part of $at"
}

# fetch DIRECTORY [TIME]
fetch() {
  local to=$1 at=${2:-} newest ledger
  needs OFFSITE_REMOTE OFFSITE_LEDGER_REMOTE OFFSITE_IDENTITY
  newest="$(newest_of "$OFFSITE_REMOTE")"
  at="${at:-$newest}"
  [[ $at =~ $TIME ]] || die "name a backup as list does"
  ledger="$(newest_of "$OFFSITE_LEDGER_REMOTE")"
  [[ ! $ledger < $at ]] ||
    die "the ledger of $ledger is older than the data, and users erased since then would come back: find a newer one, or name an older backup"
  mkdir -p "$to"
  [ -z "$(ls -A "$to")" ] || die "$to is not empty"
  take "$OFFSITE_REMOTE" "$at" data "$to/data"
  # The newest keys: they lack those of users who were erased since.
  take "$OFFSITE_REMOTE" "$newest" keys "$to/keys"
  take "$OFFSITE_LEDGER_REMOTE" "$ledger" ledger "$to/ledger"
  say "The data of $at, the keys of $newest and the ledger of $ledger are in $to."
}

tell_restore() {
  say 'Stop every process of Lethe, and then, in this order:'
  if on_postgres; then
    say '  export PGPASSWORD=…, and leave the password out of the URL: every user of the machine can read arguments'
    say "  pg_restore --exit-on-error --dbname=URL-OF-AN-EMPTY-DATABASE $1/keys/keys.dump"
    say "  pg_restore --exit-on-error --dbname=URL-OF-AN-EMPTY-DATABASE $1/data/data.dump"
  else
    say "  ${admin[*]} restore --from $1/keys --only keys"
    say "  ${admin[*]} restore --from $1/data --only data"
  fi
  say "  ${admin[*]} ledger:import --in $1/ledger/ledger.ndjson"
  say "Start Lethe, and remove $1."
}

# The age is that of the mark.
refuse_old() {
  local newest oldest
  [ "$#" -gt 0 ] || return 0
  [ "$1" = --max-age-days ] || set -- "${1%%=*}" "${1#*=}" "${@:2}"
  [[ $# -eq 2 && $1 == --max-age-days ]] || die 'on PostgreSQL drill takes --max-age-days N, and no other flag'
  [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || die '--max-age-days must be a whole number'
  needs OFFSITE_REMOTE
  newest="$(newest_of "$OFFSITE_REMOTE")"
  oldest="$(date -u -d "-$2 days" +%Y-%m-%dT%H-%M-%SZ)"
  [[ ! $newest < $oldest ]] || die "the newest backup, $newest, is older than $2 days: take another one"
}

# Who knows a public key can encrypt a backup of his own for it. Only the drill, by the master key and the sealed logs, shows
# that it is one of Lethe.
drill() {
  if ! on_postgres; then
    fetch "$work/fetched"
    lethe backup:drill --from "$work/fetched" "$@"
    return
  fi
  needs OFFSITE_DRILL_DATABASE_URL
  refuse_old "$@"
  fetch "$work/fetched"
  local part tables="SELECT COUNT(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'keys'))"
  [ "$(postgres "$OFFSITE_DRILL_DATABASE_URL" psql -XAtc "$tables")" = 0 ] ||
    die 'the database of OFFSITE_DRILL_DATABASE_URL is not empty'
  trap 'rm -rf "$work"; say "Drop the database of OFFSITE_DRILL_DATABASE_URL now: it holds the data of users."' EXIT
  for part in keys data; do
    postgres "$OFFSITE_DRILL_DATABASE_URL" pg_restore --exit-on-error --no-owner "$work/fetched/$part/$part.dump"
  done
  DATABASE_URL="$OFFSITE_DRILL_DATABASE_URL" DATABASE_DIRECT_URL='' lethe audit:verify
  say 'The backup restores.'
}

[ "$#" -gt 0 ] || die 'name a command: backup, ledger, list, fetch DIRECTORY [BACKUP], drill'
command=$1
shift
case "$command" in
  backup) requires_recipients; begin; backup ;;
  ledger) requires_recipients; begin ledger; send_ledger ;;
  list) needs OFFSITE_REMOTE; finished "$OFFSITE_REMOTE" ;;
  fetch)
    [ "$#" -gt 0 ] || die 'name a directory'
    begin
    fetch "$@"
    tell_restore "$1"
    ;;
  drill) begin; drill "$@" ;;
  *) die "there is no command $command" ;;
esac
