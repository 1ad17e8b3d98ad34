/**
 * The bare probe: fetch, scan, encode and insert into both engines, and nothing else: no proof, no
 * ledger, no archive, no derived row, no read-back. Entry of a child process with engines of its
 * own; what the real pipeline is compared with.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import type { ClickHouseClient } from '@clickhouse/client'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { RpcClient } from '#ingest/rpc/client/client.ts'
import { parseEndpointUrl } from '#ingest/rpc/client/endpointUrl.ts'
import { requestRange } from '#ingest/rpc/ranges/rangeRequest.ts'
import { startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { countBuffersAsHeap } from '#program/process/externalMemory.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { silentLogger } from '#telemetry.ts'
import { copyHeader, copyTrailer } from '#transform/encode/copy.ts'
import type { ProbePiece } from './probeEncoder.ts'
import {
  clickhouseTypeOf,
  type ProbeTable,
  postgresTypeOf,
  probeColumns,
  probeTableList,
} from './probeTables.ts'

export interface ProbedChain {
  readonly url: string
  readonly blocks: number
  /** Asked for at a time. */
  readonly batchBlocks: number
}

/** The parent's message: where the chain is, and later that it may begin. */
export type ProbeMessage = ({ readonly type: 'open' } & ProbedChain) | { readonly type: 'run' }

// As the program does.
countBuffersAsHeap()
const runtime = systemRuntime()
const REQUESTS_MAX = 6
const THREADS = 2
/** Few large inserts: each costs milliseconds of its own. */
const PIECES_PER_INSERT = 8

process.on('message', (message: ProbeMessage) => {
  if (message.type === 'open') void open(message)
})
process.once('disconnect', () => process.exit(0))

interface Stores {
  readonly client: pg.Client
  readonly clickhouse: ClickHouseClient
}

async function open(chain: ProbedChain): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-probe-'))
  const postgres = await startPostgres({ dataDir, log: silentLogger, runtime })
  const engine = await startClickHouse({ dataDir, readerGrants: [], log: silentLogger, runtime })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const clickhouse = openClickHouse({ url: engine.url, username: engine.username, password: engine.password })
  for (const table of probeTableList) await createTable({ client, clickhouse }, table)
  process.once('message', () => {
    void run(chain, { client, clickhouse }).then(async (rows) => {
      process.send?.({ type: 'done', rows })
      await client.end()
      await clickhouse.close()
      await Promise.all([postgres.stop(), engine.stop()])
      rmSync(dataDir, { recursive: true, force: true })
      process.send?.({ type: 'closed' })
    })
  })
  process.send?.({ type: 'ready' })
}

async function createTable({ client, clickhouse }: Stores, table: ProbeTable): Promise<void> {
  const columns = probeColumns(table)
  const key = table.key.map((name) => `"${name}"`).join(', ')
  const typed = (typeOf: (kind: (typeof columns)[number]['kind']) => string) =>
    columns.map(({ name, kind }) => `"${name}" ${typeOf(kind)}`).join(', ')
  await client.query(`CREATE TABLE ${table.name} (${typed(postgresTypeOf)}, PRIMARY KEY (${key}))`)
  await clickhouse.command({
    query: `CREATE TABLE default.${table.name} (${typed(clickhouseTypeOf)}) ENGINE = MergeTree ORDER BY (${key})`,
  })
}

/** @returns rows written to each store */
async function run({ url, blocks, batchBlocks }: ProbedChain, stores: Stores): Promise<number> {
  const client = new RpcClient(parseEndpointUrl(url), runtime.clock, REQUESTS_MAX)
  const abilities = { batches: true, blockReceipts: true }
  let next = 0
  let rows = 0
  let postgresDone = Promise.resolve()
  let clickhouseDone = Promise.resolve()
  let waiting: ProbePiece[][] = []
  const flush = () => {
    const pieces = waiting
    waiting = []
    if (pieces.length > 0) clickhouseDone = clickhouseDone.then(() => insert(stores.clickhouse, pieces))
    return clickhouseDone
  }
  const work = async (worker: Worker) => {
    // The next answer is on its way while this one is scanned.
    const ask = () => {
      const [from, to] = [next, Math.min(blocks, next + batchBlocks) - 1]
      next += batchBlocks
      return from < blocks
        ? requestRange(client, { from, to }, abilities).then((bytes) => ({ from, to, bytes }))
        : null
    }
    for (let asked = ask(); asked !== null; ) {
      const task = await asked
      asked = ask()
      const answered = new Promise<ProbePiece[]>((resolve) => worker.once('message', resolve))
      worker.postMessage(task, [task.bytes.buffer])
      const pieces = await answered
      rows += pieces.reduce((sum, piece) => sum + piece.rows, 0)
      waiting.push(pieces)
      const before = postgresDone
      postgresDone = before.then(() => copy(stores.client, pieces))
      if (waiting.length >= PIECES_PER_INSERT) void flush()
      await before
    }
  }
  const workers = Array.from(
    { length: THREADS },
    () => new Worker(new URL('./probe.worker.ts', import.meta.url)),
  )
  await Promise.all(workers.map(work))
  await Promise.all([postgresDone, flush()])
  await Promise.all(workers.map((worker) => worker.terminate()))
  await client.close()
  return rows
}

async function copy(client: pg.Client, pieces: readonly ProbePiece[]): Promise<void> {
  await client.query('BEGIN')
  for (const [index, { postgres }] of pieces.entries()) {
    const stream = client.query(copyFrom(`COPY ${probeTableList[index]?.name} FROM STDIN (FORMAT binary)`))
    for (const bytes of [copyHeader, postgres, copyTrailer]) stream.write(bytes)
    stream.end()
    await finished(stream)
  }
  await client.query('COMMIT')
}

async function insert(
  clickhouse: ClickHouseClient,
  batches: readonly (readonly ProbePiece[])[],
): Promise<void> {
  for (const [index, table] of probeTableList.entries()) {
    const pieces = batches.flatMap((batch) => batch[index] ?? [])
    const { stream } = await clickhouse.exec({
      query: `INSERT INTO default.${table.name} FORMAT Native`,
      values: Readable.from(nativeBytes(table, pieces), { objectMode: false }),
    })
    stream.resume()
    await finished(stream)
  }
}

function nativeBytes(table: ProbeTable, pieces: readonly ProbePiece[]): Uint8Array[] {
  const columns = probeColumns(table)
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0)
  return [
    Uint8Array.from([...varint(columns.length), ...varint(rows)]),
    ...columns.flatMap(({ name, kind }, column) => [
      Uint8Array.from([...prefixed(name), ...prefixed(clickhouseTypeOf(kind))]),
      ...pieces.flatMap((piece) => piece.clickhouse[column] ?? []),
    ]),
  ]
}

const prefixed = (text: string): number[] => [...varint(text.length), ...Buffer.from(text)]

function varint(value: number): number[] {
  return value > 127 ? [(value % 128) | 128, ...varint(Math.floor(value / 128))] : [value]
}
