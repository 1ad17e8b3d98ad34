/**
 * Server settings of the embedded Postgres: one indexer writing in large batches, an API reading,
 * two cores.
 */

/**
 * `name=value`, each passed with -c, so that an upgrade changes them without touching the data
 * directory.
 */
export const serverArguments: readonly string[] = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  // Memory: 256 MB of cache holds the head partitions and every index root; the file cache does the
  // rest.
  'shared_buffers=256MB',
  'effective_cache_size=1GB',
  'work_mem=16MB',
  'maintenance_work_mem=128MB',
  // Durable at commit: the ledger is here. No replica reads the log, so nothing but crash recovery
  // is written to it.
  'synchronous_commit=on',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_replication_slots=0',
  'wal_buffers=16MB',
  // Small new indexes are logged page by page: pglz took a third of the server's CPU for a chunk,
  // and this build has no LZ4.
  'wal_compression=off',
  'min_wal_size=256MB',
  'max_wal_size=2GB',
  'checkpoint_timeout=15min',
  // A query whose client has gone ends within a second (without this the backend runs on).
  'client_connection_check_interval=1s',
  'tcp_keepalives_idle=60',
  // One transaction attaches a chunk of every table, and a query over all partitions locks each of
  // them.
  'max_locks_per_transaction=256',
  'max_parallel_workers_per_gather=2',
  'autovacuum_naptime=20s',
  // Compiling a short API query takes longer than running it.
  'jit=off',
  'timezone=UTC',
  'log_timezone=UTC',
  // SQL text may hold user data; the client that sent it gets the error.
  'log_min_error_statement=panic',
  'log_checkpoints=off',
  'log_line_prefix=%m [%p] ',
]
