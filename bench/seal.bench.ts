/**
 * Claim: a segment of the head lane ends within a second, whatever it holds, while others read
 * (W1). `SEAL_ROWS` logs are made by SQL in one head partition, under its key alone: what a seal
 * could look at are rows. A long read of all of them is open, and lists read the newest.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { hash } from '#primitives.ts'
import { postgresLeases } from '#rows/leases.ts'
import { extendCoverage } from '#store/ledger/lane.ts'
import { openChain } from '#store/ledger/ledger.ts'
import { createHeadPartitions, headPartitionEnd } from '#store/ledger/partitions.ts'
import { sealSegment } from '#store/ledger/segments.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { type Line, median } from './harness.ts'

const chainId = 4217
const schema = schemaOf(chainId)
const rows = Number(process.env['SEAL_ROWS'] ?? 30_000_000)
const LOGS_PER_BLOCK = 100
/** Logs that one transaction makes. */
const PIECE_ROWS = 1_000_000
const SEALS = 9
/** Blocks that a downtime leaves out. */
const GAP_BLOCKS = 2_000
const READERS = 4

export async function benchSeal(): Promise<Line[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const server = await startPostgres({ dataDir: openDataDir(dataDir).path, log: silentLogger })
  const postgres = openPostgres({ url: server.url, applicationName: 'bench', log: silentLogger })
  try {
    await prepare(postgres)
    await fill(postgres, { from: 0, to: LOGS_PER_BLOCK })
    const empty = await sealBesideReads(postgres, LOGS_PER_BLOCK)
    await fill(postgres, { from: LOGS_PER_BLOCK, to: rows })
    const full = await sealBesideReads(postgres, rows)
    return [lineOf(rows, full, empty)]
  } finally {
    await postgres.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const lineOf = (held: number, full: Sealed, empty: Sealed): Line => ({
  subject: `seal of a segment with ${held.toLocaleString('en-US')} logs in one partition, ${READERS} readers and a read of all of them beside`,
  value: `${median(full.sealMs).toFixed(1)} ms (median of ${SEALS}), at most ${Math.max(...full.sealMs).toFixed(1)} ms`,
  against: `with ${LOGS_PER_BLOCK} logs ${median(empty.sealMs).toFixed(1)} ms; slowest read meanwhile ${full.readMs.toFixed(1)} and ${empty.readMs.toFixed(1)} ms`,
})

async function prepare(postgres: Postgres): Promise<void> {
  await migrateApp(postgres)
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
  const identity = { chainId, genesisHash: hash(`0x${'00'.repeat(32)}`), startBlock: 0 }
  await openChain(postgres, { ...identity, headerRule: 'ethereum' }, 0, 1n)
  const { rows: indexes } = await postgres.pool.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = '${schema}.logs'::regclass AND NOT indisprimary`,
  )
  for (const { name } of indexes) await postgres.pool.query(`DROP INDEX ${name}`)
  await postgres.transaction((client) =>
    createHeadPartitions(client, schema, { from: 0, to: headPartitionEnd(0) }),
  )
}

/** Logs `from` to `to`, in blocks from 0 on, as the head lane would have appended them. */
async function fill(postgres: Postgres, { from, to }: { from: number; to: number }): Promise<void> {
  for (let first = from; first < to; first += PIECE_ROWS)
    await postgres.transaction(async (client) => {
      await client.query("SET LOCAL statement_timeout = '10min'")
      await client.query(
        `INSERT INTO ${schema}.logs (block_num, log_idx, block_timestamp, tx_idx, tx_hash, address, topic0, topic1, topic2, data, is_virtual_forward)
         SELECT n / ${LOGS_PER_BLOCK}, n % ${LOGS_PER_BLOCK}, to_timestamp(1767225600 + n / ${LOGS_PER_BLOCK}), n % ${LOGS_PER_BLOCK} / 2,
           word, '\\x20c0000000000000000000000000000000000000', word, word, word, word, false
         FROM generate_series($1::bigint, $2::bigint) AS n
         CROSS JOIN LATERAL (SELECT decode(lpad(to_hex(n), 64, '0'), 'hex') AS word) AS words`,
        [first, Math.min(first + PIECE_ROWS, to) - 1],
      )
    })
  const last = Math.ceil(to / LOGS_PER_BLOCK) - 1
  await postgres.transaction((client) => extendCoverage(client, schema, 'postgres', { from: 0, to: last }))
}

interface Sealed {
  readonly sealMs: readonly number[]
  readonly readMs: number
}

async function sealBesideReads(postgres: Postgres, held: number): Promise<Sealed> {
  const ended = new AbortController()
  const reading = Array.from({ length: READERS }, () => readNewest(postgres, ended.signal))
  const long = await postgres.pool.connect()
  await long.query(`BEGIN; SET LOCAL statement_timeout = 0`)
  const counted = long.query(`SELECT count(*) AS rows FROM ${schema}.logs WHERE data IS NOT NULL`)
  const sealMs: number[] = []
  const tip = Math.ceil(held / LOGS_PER_BLOCK) - 1
  for (let seal = 0; seal < SEALS; seal++) {
    await postgres.pool.query(`UPDATE ${schema}.lanes SET from_block = 0, tip = $1`, [tip])
    const begun = performance.now()
    await postgres.transaction((client) => sealSegment(client, schema, 1n, tip + GAP_BLOCKS))
    sealMs.push(performance.now() - begun)
  }
  const slowest = async () => {
    ended.abort()
    return Math.max(...(await Promise.all(reading)))
  }
  const readMs = await slowest()
  await counted
  await long.query('COMMIT')
  long.release()
  return { sealMs, readMs }
}

/** The newest logs, again and again. @returns the milliseconds of the slowest read */
async function readNewest({ reads }: Postgres, signal: AbortSignal): Promise<number> {
  let slowest = 0
  do {
    const begun = performance.now()
    await reads.query(`SELECT * FROM ${schema}.logs ORDER BY block_num DESC, log_idx DESC LIMIT 100`)
    slowest = Math.max(slowest, performance.now() - begun)
  } while (!signal.aborted)
  return slowest
}
