// Goal: events and functions by signature are tables of the SQL endpoint: right values of a real
// chain, live, described by the schema, refused in words. Method: the recorded chain over HTTP, and
// viem's reading of the recording.
import { decodeEventLog, parseAbiItem } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecording } from '../../chain/recordings.ts'
import { recordedRuns } from '../../store/support/chainStore.ts'
import { type Answer, ask, type ChainApi, openChainApi } from '../support/chainApi.ts'
import { openStream } from '../support/eventStream.ts'

const recording = 'tempo-dev-2k'
const run = recordedRuns(recording)
const finalBlock = 100
const declarations = [
  'event Transfer(address indexed from, address indexed to, uint256 amount)',
  'event TransferWithMemo(address indexed from, address indexed to, uint256 amount, bytes32 indexed memo)',
  'event Mint(address indexed to, uint256 amount)',
  'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  'event RoleMembershipUpdated(bytes32 indexed role, address indexed account, address indexed sender, bool hasRole)',
] as const

// biome-ignore lint/suspicious/noExplicitAny: a node's JSON
type Json = any

describe('tables by signature', () => {
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi()
    await api.append(run(0, finalBlock))
    await api.finalize(finalBlock)
    await api.fillClickHouse()
  })
  afterAll(() => api.close())

  const query = (sql: string, signatures: readonly string[], more = ''): Promise<Answer> =>
    api.get(`/v1/indexer/query?${parametersOf(sql, signatures)}${more}`)
  const parametersOf = (sql: string, signatures: readonly string[]): string =>
    [['sql', sql], ...signatures.map((signature) => ['signature', signature])]
      .map(([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`)
      .join('&')

  test.each(declarations)('every log of the recording reads as viem reads it: %s', async (declaration) => {
    const abi = parseAbiItem([declaration] as readonly string[])
    if (abi.type !== 'event') throw new TypeError('no event')
    const names = abi.inputs.map(({ name }) => name ?? '')
    const expected = readRecording(recording)
      .slice(0, finalBlock + 1)
      .flatMap(({ receipts }) => (receipts as Json[]).flatMap((receipt) => receipt.logs))
      .flatMap((log: Json) => decoded(abi, log, names))
    const columns = names.map((name) => `"${name}"`).join(', ')
    const sql = `SELECT block_num, log_idx, ${columns} FROM ${abi.name} ORDER BY block_num, log_idx`
    const signature = declaration.replace('event ', '')
    for (const engine of ['postgres', 'clickhouse']) {
      const { status, body } = await query(sql, [signature], `&engine=${engine}`)
      expect(status).toBe(200)
      // The recording has logs that only look like the event: short data, topics that are no
      // addresses.
      expect(body.rows.filter((row: Json[]) => !row.includes(null))).toEqual(expected)
    }
    expect(expected.length).toBeGreaterThan(0)
  })

  test('several signatures join; POST takes them as a list', async () => {
    const sql =
      'SELECT count(*) AS n FROM TransferWithMemo m JOIN Transfer t ON t.tx_hash = m.tx_hash AND t.amount = m.amount AND t."to" = m."to"'
    const signature = [declarations[0], declarations[1]]
    const got = await query(sql, signature)
    const posted = await ask(`${api.server.origin}/v1/indexer/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql, signature, engine: 'clickhouse' }),
    })
    expect(posted.body.rows).toEqual(got.body.rows)
    expect(Number(got.body.rows[0][0])).toBeGreaterThan(0)
  })

  test.each([
    ['Transfer(address,uint257)', 'uint257 is no ABI type'],
    ['Transfer(address', 'expected ")" at character 17, found the end'],
    ['Logs(uint256 a)', 'there is a table logs already'],
    ['E(uint8 a, uint8 A)', 'two of its parameters are named A'],
  ])('a signature that cannot be used is refused in words: %s', async (signature, problem) => {
    const { status, body } = await query('SELECT num FROM blocks', [signature])
    expect(status).toBe(422)
    expect(body).toMatchObject({ ok: false, error: { code: 'sql_invalid' } })
    expect(body.error.message).toContain(problem)
    expect(body.error.details[0].path).toEqual(['query', 'signature'])
  })

  test('the schema describes them', async () => {
    const signature = encodeURIComponent(
      'Swapped(uint128 indexed orderId, (address token, bytes data)[] hops)',
    )
    const { body } = await api.get(`/v1/indexer/schema?engine=clickhouse&signature=${signature}`)
    const relation = body.relations.find(({ name }: { name: string }) => name === 'swapped')
    expect(relation.comment).toBe('one log of Swapped(uint128,(address,bytes)[])')
    expect(relation.columns.slice(-2)).toEqual([
      { name: 'orderId', type: 'numeric', comment: 'uint128; null where the log does not hold one' },
      { name: 'hops', type: 'json', comment: '(address,bytes)[]; null where the log does not hold one' },
    ])
  })

  test('they are live, block by block', async () => {
    const sql = 'SELECT block_num, count(*) AS n, sum(amount) AS total FROM Transfer GROUP BY block_num'
    const url = `${api.server.origin}/v1/indexer/query?live=true&${parametersOf(sql, [declarations[0]])}`
    const client = await openStream(url)
    await client.until((events) => events.length > 0)
    await api.append(run(finalBlock + 1, finalBlock + 5))
    const isResult = ({ event }: { readonly event: string }) => event === 'result'
    const events = await client.until((seen) => seen.filter(isResult).length >= 5)
    client.close()
    const rows = events.filter(isResult).flatMap(({ data }) => data.rows ?? [])
    const whole = await query(`${sql} HAVING block_num > ${finalBlock} ORDER BY block_num`, [declarations[0]])
    expect(rows).toEqual(whole.body.rows)
    expect(rows.length).toBeGreaterThan(0)
  })
})

/**
 * The log's row, or none where it does not hold the event; viem alone takes any word for an
 * address.
 */
function decoded(abi: Json, log: Json, names: readonly string[]): Json[] {
  const isAddress = (input: Json, index: number) =>
    input.type !== 'address' || /^0x0{24}/.test(log.topics[index + 1] ?? '0x')
  if (!abi.inputs.filter((input: Json) => input.indexed).every(isAddress)) return []
  try {
    const decodedLog: Json = decodeEventLog({ abi: [abi], topics: log.topics, data: log.data, strict: true })
    const values = names.map((name) => resultOf(decodedLog.args[name]))
    return [[String(Number(log.blockNumber)), Number(log.logIndex), ...values]]
  } catch {
    return []
  }
}

const resultOf = (value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : typeof value === 'string' ? value.toLowerCase() : value
