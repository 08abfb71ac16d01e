#!/bin/sh
# Once, when the data folder is new: the role that migrates owns the database, and gateways and workers get roles that
# own nothing. What these may do is granted by the migration. No process of the product works as superuser.
set -eu
psql --set=ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" <<'SQL'
-- Read here, because other users can read a program's arguments.
\set owner `cat /run/secrets/owner_password`
\set gateway `cat /run/secrets/gateway_password`
\set worker `cat /run/secrets/worker_password`
-- It would keep the next statements as they are, with the passwords.
set pg_stat_statements.track_utility = off;
create role eloquentpoll login password :'owner';
create role eloquentpoll_gateway login password :'gateway';
create role eloquentpoll_worker login password :'worker';
-- What ends their statements behind a pooler.
alter role eloquentpoll_gateway set statement_timeout = '5s';
alter role eloquentpoll_gateway set lock_timeout = '2s';
alter role eloquentpoll_gateway set idle_in_transaction_session_timeout = '10s';
alter role eloquentpoll_worker set statement_timeout = '30s';
alter role eloquentpoll_worker set lock_timeout = '2s';
alter role eloquentpoll_worker set idle_in_transaction_session_timeout = '10s';
alter database eloquentpoll owner to eloquentpoll;
alter schema public owner to eloquentpoll;
create extension if not exists pg_stat_statements;
SQL
