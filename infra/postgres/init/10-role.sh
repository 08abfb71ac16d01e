#!/bin/sh
# Once, when the data folder is new: a role of the product's own that owns its database, so that no process of it ever
# works as superuser.
set -eu
psql --set=ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" \
  --set=password="$(cat /run/secrets/app_password)" <<'SQL'
create role eloquentpoll login password :'password';
alter database eloquentpoll owner to eloquentpoll;
alter schema public owner to eloquentpoll;
create extension if not exists pg_stat_statements;
SQL
