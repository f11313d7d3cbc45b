/**
 * SQL for the seconds since the oldest transaction began that keeps dead rows of this database from being removed; 0: there is none.
 * A role that may not read all statistics sees only its own and prepared ones.
 */
export const oldestTransactionSeconds = `coalesce(extract(epoch FROM clock_timestamp() - least(
  (SELECT min(xact_start) FROM pg_stat_activity
    WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
      AND coalesce(backend_xmin, backend_xid) IS NOT NULL AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)),
  (SELECT min(prepared) FROM pg_prepared_xact()
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())))), 0)::float8`
