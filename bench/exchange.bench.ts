/**
 * Claims: the fold is no narrow place; depth and a hundred blocks of the feed cost little more than
 * their rows by a bare handler, in the same run; depth of a past block costs the same with sixteen
 * times the history. The book is that of the recorded chain, in the program as users start it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { schemaOf } from '#store/sql.ts'
import { foldLines } from './exchange/fold.ts'
import { type Line, median, quantile } from './harness.ts'
import { chainId, type RunningProgram, withProgram } from './program.ts'
import { hasRecording } from './recordedChain.ts'

const LAST_BLOCK = 744
const PAST_BLOCK = 400
/** One and the other in turn, so that a machine that becomes slower does so for both. */
const ROUNDS = 300
const WARMING_ROUNDS = 20
const HISTORY_FACTOR = 16
const chain = join(import.meta.dirname, '../../shared/chain')

export async function benchExchange(): Promise<Line[]> {
  const lines = await foldLines()
  if (!hasRecording()) return lines
  const args = ['--recording', join(chain, 'recordings/tempo-dev-30k'), '--port', '0', '--shape', 'tempo']
  const node = spawn(process.execPath, [join(chain, 'replay.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [first] = await once(createInterface(node.stdout), 'line')
    const { listening }: { listening: string } = JSON.parse(String(first))
    return await withProgram({ url: listening }, 'links', async (program) => {
      await program.until(() => hasBook(program), 200)
      const database = new pg.Pool({ connectionString: program.connection.databaseUrl })
      try {
        return [...lines, ...(await readLines(program, database))]
      } finally {
        await database.end()
      }
    })
  } finally {
    node.kill()
  }
}

async function hasBook({ address }: RunningProgram): Promise<boolean> {
  const { chains } = Object(await (await fetch(`${address}/status`)).json())
  const { projections } = chains[0]
  return projections.some(
    ({ name, tip }: { name: string; tip: number | null }) => name === 'exchange' && tip === LAST_BLOCK,
  )
}

async function readLines({ address }: RunningProgram, database: pg.Pool): Promise<Line[]> {
  const schema = schemaOf(chainId)
  const { rows } = await database.query<{ pair: Buffer; base: Buffer }>(
    `SELECT pair, base FROM ${schema}.exchange_levels_current JOIN ${schema}.exchange_pairs_current USING (pair)
     WHERE size > 0 GROUP BY pair, base ORDER BY count(*) DESC LIMIT 1`,
  )
  const [{ pair, base } = { pair: Buffer.alloc(0), base: Buffer.alloc(0) }] = rows
  const levels = `SELECT tick, size, is_bid FROM ${schema}.exchange_levels_current WHERE pair = $1 AND size > 0 ORDER BY is_bid, tick`
  const fills = `SELECT * FROM ${schema}.exchange_fills WHERE block_num BETWEEN $1 AND $2 ORDER BY block_num, log_idx`
  const depth = `${address}/v1/exchange/pairs/0x${base.toString('hex')}/depth?chainId=${chainId}&levels=200`
  const from = PAST_BLOCK
  const lines = [
    await compare('depth', () => depth, database, levels, [pair]),
    await compare(
      'a hundred blocks of the feed',
      (n) =>
        `${address}/feed/${chainId}/events?fromBlock=${from - (n % 100)}&toBlock=${from + 99 - (n % 100)}`,
      database,
      fills,
      [from, from + 99],
    ),
  ]
  const past = `${depth}&atBlock=${PAST_BLOCK}`
  const before = await sample(past)
  await multiplyHistory(database, schema)
  const after = await sample(past)
  lines.push({
    subject: `exchange: depth at block ${PAST_BLOCK}, ${HISTORY_FACTOR} times the history`,
    value: `p50 ${median(after).toFixed(1)} ms, p99 ${quantile(after, 0.99).toFixed(1)} ms`,
    against: `p50 ${median(before).toFixed(1)} ms, p99 ${quantile(before, 0.99).toFixed(1)} ms with the recording's own`,
  })
  return lines
}

/** The same rows by a handler that does nothing else. */
async function compare(
  subject: string,
  urlOf: (round: number) => string,
  database: pg.Pool,
  text: string,
  values: readonly unknown[],
): Promise<Line> {
  const bare = await listen(
    createServer(async (_request, response) => {
      const { rows } = await database.query({ name: subject, text, values: [...values] })
      response.setHeader('content-type', 'application/json').end(JSON.stringify(rows))
    }),
  )
  const { port } = bare.address() as AddressInfo
  const measured = { api: [] as number[], bare: [] as number[] }
  for (let round = -WARMING_ROUNDS; round < ROUNDS; round++) {
    const [api, alone] = [
      await timed(urlOf(round + WARMING_ROUNDS)),
      await timed(`http://127.0.0.1:${port}/`),
    ]
    if (round >= 0) measured.api.push(api)
    if (round >= 0) measured.bare.push(alone)
  }
  bare.close()
  const at = (values: readonly number[], share: number) => quantile(values, share).toFixed(1)
  const ratio = quantile(measured.api, 0.99) / quantile(measured.bare, 0.99)
  return {
    subject: `exchange: ${subject}`,
    value: `p50 ${at(measured.api, 0.5)} ms, p99 ${at(measured.api, 0.99)} ms`,
    against: `${ratio.toFixed(2)} × the p99 of bare http and pg: p50 ${at(measured.bare, 0.5)} ms, p99 ${at(measured.bare, 0.99)} ms`,
  }
}

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function sample(url: string): Promise<number[]> {
  const taken: number[] = []
  for (let round = -WARMING_ROUNDS; round < ROUNDS; round++) {
    const ms = await timed(url)
    if (round >= 0) taken.push(ms)
  }
  return taken
}

async function timed(url: string): Promise<number> {
  const begun = performance.now()
  const response = await fetch(url)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return performance.now() - begun
}

/** Each state of a level again and again within its block, so that every answer stays what it is. */
async function multiplyHistory(database: pg.Pool, schema: string): Promise<void> {
  const table = `${schema}.exchange_levels_history`
  await database.query(
    `INSERT INTO ${table} (level, block_num, log_idx, pair, is_bid, tick, size, order_count)
     SELECT level, block_num, log_idx + 100000 * copy, pair, is_bid, tick, size, order_count
     FROM ${table} CROSS JOIN generate_series(1, ${HISTORY_FACTOR - 1}) AS copy`,
  )
  await database.query(`ANALYZE ${table}`)
}
