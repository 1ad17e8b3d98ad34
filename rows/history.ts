/** Which history of commits the database has. */
import { sql } from 'kysely'

/**
 * Cluster and timeline. A restored database is of another cluster, and a promoted one on another
 * timeline: both may lack the newest rows.
 */
export const history = sql<string>`
  (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)`
