#!/bin/sh
# Restores a dump into an empty database and proves that its books balance. Needs no superuser.
# Usage: DATABASE_URL=... restore.sh FILE
set -eu
file=${1:?restore.sh FILE}
: "${DATABASE_URL:?is not set}"
. "$(dirname "$0")/hide-password.sh"
# The server ends statements of everybody after 30 s, which statistics and ledger of a large database take longer than.
export PGOPTIONS="${PGOPTIONS:-} -c statement_timeout=0"
ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 --command="$1" "$DATABASE_URL"; }
tables=$(ask "select count(*) from pg_tables where schemaname = 'public'")
[ "$tables" = 0 ] ||
  { echo "the database is not empty, as after a restore that failed: it has $tables tables. Create a new one." >&2; exit 1; }
# An extension is the superuser's, such as pg_stat_statements of our server: nothing of the product needs one.
list=$(mktemp)
trap 'rm -f "$list"' EXIT
entries=$(pg_restore --list "$file")
printf '%s\n' "$entries" | grep -v ' EXTENSION ' >"$list"
pg_restore --exit-on-error --no-owner --no-privileges --jobs=4 --use-list="$list" --dbname="$DATABASE_URL" "$file"
# Privileges are not restored: the next migration grants them again.
ask "delete from schema_migrations where name like 'grants-%'"
# Only our tables: the server's own belong to the superuser.
ask "analyze $(ask "select string_agg(format('%I.%I', schemaname, tablename), ', ') from pg_tables where schemaname = 'public'")"
# Polls that ran at the moment of the dump are past their deadline by now: no fault of the books, and workers end them.
violations=$(ask "select count(*) from check_ledger() where rule <> 'poll_overdue'")
[ "$violations" = 0 ] || { echo "the ledger of this backup has $violations violations" >&2; exit 1; }
running=$(ask "select count(*) from polls where status = 'running'")
[ "$running" = 0 ] || echo "polls that were running: $running; workers continue them, or end them if their deadline has passed"
echo "restored: $(ask 'select count(*) from polls') polls, $(ask 'select count(*) from transfers') transfers, the books balance"
