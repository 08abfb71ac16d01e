#!/bin/sh
# A dump of the whole database into FOLDER, complete or not there at all, and readable as a dump before it counts as one.
# Usage: DATABASE_URL=... dump.sh FOLDER [HOW_MANY_TO_KEEP]
set -eu
folder=${1:?dump.sh FOLDER [HOW_MANY_TO_KEEP]}
keep=${2:-14}
: "${DATABASE_URL:?is not set}"
. "$(dirname "$0")/hide-password.sh"
umask 077
name="$folder/eloquentpoll-$(date -u +%Y-%m-%dT%H%MZ).dump"
trap 'rm -f "$name.part"' EXIT
# --serializable-deferrable: one moment of the whole database, without holding anybody up.
pg_dump --format=custom --compress=6 --no-owner --no-privileges --serializable-deferrable \
  --file="$name.part" "$DATABASE_URL"
pg_restore --list "$name.part" | grep -q 'TABLE DATA public transfers' || { echo 'the dump holds no ledger' >&2; exit 1; }
mv "$name.part" "$name"
echo "$name"
# A dump that was killed leaves a part, which is never finished; one that still grows was changed today.
find "$folder" -maxdepth 1 -name 'eloquentpoll-*.dump.part' -mtime +0 -exec rm -f {} +
# Older ones go only after a new one is there.
ls -1 "$folder"/eloquentpoll-*.dump | sort -r | tail -n +"$((keep + 1))" | while read -r old; do rm -f "$old"; done
