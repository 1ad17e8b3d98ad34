/**
 * ClickHouse DDL is written once, for one server and for a cluster. A template says
 * `{engine:MergeTree}`; on one server that is the engine itself, on a cluster the Replicated form
 * with a path per shard.
 */
export interface ClickHouseTopology {
  /** Name of the cluster, or null for one server. */
  readonly cluster: string | null
}

/**
 * How many insert tokens a table remembers. A retry after more inserts than this would double its
 * rows (measured with a window of 5), so the window is far beyond what can lie between a send and
 * its retry.
 */
const DEDUPLICATION_WINDOW_SINGLE = 10_000
const DEDUPLICATION_WINDOW_REPLICATED = 100_000
const DEDUPLICATION_SECONDS = 7 * 24 * 3_600

export const databaseOf = (chainId: number): string => `chain_${chainId}`
export const viewDatabaseOf = (chainId: number): string => `chain_${chainId}_sql`

/** Fills a template in. `database` is built from a chain id, never from input. */
export function expandTemplate(template: string, database: string, topology: ClickHouseTopology): string {
  const { cluster } = topology
  return template
    .replaceAll('{database}', `\`${database}\``)
    .replaceAll('{on_cluster}', cluster === null ? '' : `ON CLUSTER \`${cluster}\``)
    .replaceAll('{database_engine}', 'ENGINE = Atomic')
    .replaceAll('{dedup_window}', dedupSettings(cluster))
    .replaceAll(/\{engine:(\w+)(?:\(([^)]*)\))?\}/g, (_, engine: string, parameters?: string) =>
      cluster === null ? `${engine}${parameters ? `(${parameters})` : ''}` : replicated(engine, parameters),
    )
}

function replicated(engine: string, parameters = ''): string {
  const path = "'/clickhouse/tables/{shard}/{uuid}', '{replica}'"
  return `Replicated${engine}(${parameters ? `${path}, ${parameters}` : path})`
}

const dedupSettings = (cluster: string | null): string =>
  cluster === null
    ? // A part without rows is dropped within a minute of its delete, and its token with it: an insert held up for longer
      // would land beside the attempt that replaced it. On a cluster tokens are kept apart from the
      // parts.
      `non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW_SINGLE}, remove_empty_parts = 0`
    : `replicated_deduplication_window = ${DEDUPLICATION_WINDOW_REPLICATED}, replicated_deduplication_window_seconds = ${DEDUPLICATION_SECONDS}`
