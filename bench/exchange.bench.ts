/**
 * Claims: the fold is no narrow place; depth and a hundred blocks of the feed cost little more than
 * their rows by a bare handler, in the same run; depth of a past block costs the same with sixteen
 * times the history. The book is that of the recorded chain, folded by the program as users start
 * it; the API and its rival are processes of their own, asked in turn for the same.
 */
import pg from 'pg'
import { schemaOf, toHex } from '#store/sql.ts'
import { recordingPath } from '#test/chain/recordings.ts'
import { startReplay } from '#test/chain/startReplay.ts'
import { bookFoldLine, foldLines } from './exchange/fold.ts'
import { type Line, median, quantile } from './harness.ts'
import { startServer } from './lists/server.ts'
import { chainId, type RunningProgram, withProgram } from './program.ts'

const LAST_BLOCK = 744
const PAST_BLOCK = 400
const FEED_BLOCKS = 100
/** Blocks the window of the feed moves over. */
const FEED_BLOCKS_MAX = 300
/** Enough that ten of them lie above the 99th percentile. */
const ROUNDS = 1_000
const WARMING_ROUNDS = 50
const HISTORY_FACTOR = 16
/** As many as the program opens. */
const connectionsMax = 24

export async function benchExchange(): Promise<Line[]> {
  const lines = await foldLines()
  const node = await startReplay('--recording', recordingPath('tempo-dev-30k'), '--shape', 'tempo')
  try {
    return await withProgram({ url: node.url }, 'links', async (program) => {
      await program.until(() => hasBook(program), 200)
      const { databaseUrl } = program.connection
      const database = new pg.Pool({ connectionString: databaseUrl })
      const serving = { databaseUrl, chainId, connectionsMax, rivals: [] }
      const [api, bare] = [
        await startServer('apiServer', serving),
        await startServer('../exchange/bareBook', serving),
      ]
      try {
        const read = await readLines({ api: api.url, bare: bare.url }, database)
        return [...lines, await bookFoldLine(databaseUrl, schemaOf(chainId), LAST_BLOCK), ...read]
      } finally {
        api.stop()
        bare.stop()
        await database.end()
      }
    })
  } finally {
    await node.close()
  }
}

async function hasBook({ address }: RunningProgram): Promise<boolean> {
  const { chains } = Object(await (await fetch(`${address}/status`)).json())
  const { projections } = chains[0]
  return projections.some(
    ({ name, tip }: { name: string; tip: number | null }) => name === 'exchange' && tip === LAST_BLOCK,
  )
}

interface Urls {
  readonly api: string
  readonly bare: string
}

async function readLines({ api, bare }: Urls, database: pg.Pool): Promise<Line[]> {
  const schema = schemaOf(chainId)
  const { rows } = await database.query<{ base: Buffer }>(
    `SELECT base FROM ${schema}.exchange_levels_current JOIN ${schema}.exchange_pairs_current USING (pair)
     WHERE size > 0 GROUP BY base ORDER BY count(*) DESC LIMIT 1`,
  )
  const [book] = rows
  if (!book) throw new Error('the recording has no open orders')
  const base = toHex(book.base)
  const depth = `${api}/v1/exchange/pairs/${base}/depth?chainId=${chainId}&levels=200`
  const window = (round: number) => {
    const from = PAST_BLOCK - (round % FEED_BLOCKS_MAX)
    return `fromBlock=${from}&toBlock=${from + FEED_BLOCKS - 1}`
  }
  const lines = [
    await compare('depth', { api: () => depth, bare: () => `${bare}/depth?base=${base}` }),
    await compare('a hundred blocks of the feed', {
      api: (round) => `${api}/feed/${chainId}/events?${window(round)}`,
      bare: (round) => `${bare}/events?${window(round)}`,
    }),
  ]
  const past = () => `${depth}&atBlock=${PAST_BLOCK}`
  const before = await sample([past])
  await multiplyHistory(database, schema)
  const after = await sample([past])
  const told = (taken: readonly number[][]) => timesOf(taken[0] ?? [])
  return [
    ...lines,
    {
      subject: `exchange: depth at block ${PAST_BLOCK}, ${HISTORY_FACTOR} times the history`,
      value: told(after),
      against: `${told(before)} with the recording's own`,
    },
  ]
}

type UrlOf = (round: number) => string

/** The same asked of both, in turn. */
async function compare(subject: string, of: { readonly api: UrlOf; readonly bare: UrlOf }): Promise<Line> {
  const [api = [], bare = []] = await sample([of.api, of.bare])
  const ratio = (share: number) => (quantile(api, share) / quantile(bare, share)).toFixed(2)
  return {
    subject: `exchange: ${subject}`,
    value: timesOf(api),
    against: `${ratio(0.5)} × the p50 and ${ratio(0.99)} × the p99 of bare Fastify and pg: ${timesOf(bare)}`,
  }
}

const timesOf = (taken: readonly number[]): string =>
  `p50 ${median(taken).toFixed(2)} ms, p99 ${quantile(taken, 0.99).toFixed(2)} ms`

/**
 * Milliseconds of each, asked one after the other, so that a machine that becomes slower does so
 * for all; and each as often first, since the first after a pause pays for it.
 */
async function sample(urls: readonly UrlOf[]): Promise<number[][]> {
  const taken: number[][] = urls.map(() => [])
  for (let round = -WARMING_ROUNDS; round < ROUNDS; round++) {
    for (let turn = 0; turn < urls.length; turn++) {
      const which = (round + WARMING_ROUNDS + turn) % urls.length
      const ms = await timed(urls[which]?.(round + WARMING_ROUNDS) ?? '')
      if (round >= 0) taken[which]?.push(ms)
    }
  }
  return taken
}

/** Only the API would compress. */
const uncompressed = { headers: { 'accept-encoding': 'identity' } }

async function timed(url: string): Promise<number> {
  const begun = performance.now()
  const response = await fetch(url, uncompressed)
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
  await database.query(`VACUUM ANALYZE ${table}`)
}
