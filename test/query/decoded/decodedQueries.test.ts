// Goal: tables by signature mean on both engines what the signature says, whatever the query around
// them does.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlValue, UserQueryEngine } from '#query/result.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'
import { account, logRows, otherToken, token, txRows } from './decodedRows.ts'

let chain: ExampleChain
let engines: readonly UserQueryEngine[]

beforeAll(async () => {
  chain = await createExampleChain({ logs: logRows, txs: txRows })
  engines = [openEngine(chain, 'postgres'), openEngine(chain, 'clickhouse', [{ from: 0, to: 100 }])]
})

afterAll(async () => {
  for (const engine of engines ?? []) await engine.close()
  await chain?.close()
})

/** The rows, which must be the same on both engines. */
async function rowsOf(sql: string, ...signatures: string[]): Promise<readonly (readonly SqlValue[])[]> {
  const [one, two] = await Promise.all(
    engines.map((engine) =>
      engine.run({ chainId: chain.chainId, sql, signatures, limit: 100, timeoutMs: 20_000 }),
    ),
  )
  expect(two?.rows).toEqual(one?.rows)
  expect(two?.columns).toEqual(one?.columns)
  expect(two?.columnTypes).toEqual(one?.columnTypes)
  return one?.rows ?? []
}

async function failureOf(sql: string, ...signatures: string[]): Promise<unknown> {
  const failures = await Promise.all(
    engines.map((engine) =>
      engine.run({ chainId: chain.chainId, sql, signatures, limit: 100, timeoutMs: 20_000 }).then(
        () => 'ran',
        (error: unknown) => error,
      ),
    ),
  )
  expect(failures[1]).toEqual(failures[0])
  return failures[0]
}

const transfer = 'Transfer(address indexed from, address indexed to, uint256 amount)'
const order = 'OrderSeen(uint128 indexed orderId, int24 indexed tick, address maker, bool isBid)'
const uint256Max = String(2n ** 256n - 1n)
const transfers = [
  [account(1), account(2), '10'],
  [account(2), account(3), uint256Max],
  [account(1), account(3), '5'],
  [account(3), account(1), '0'],
  // Short data, and a topic that is no address.
  [account(1), account(2), null],
  [null, account(2), '1'],
]

describe('columns', () => {
  const sql = 'SELECT "from", "to", amount FROM transfer ORDER BY block_num, log_idx'

  it('are what the signature says; logs with other topics are another event', async () => {
    expect(await rowsOf(sql, transfer)).toEqual(transfers)
  })

  it('are those of an event that is known, where nothing says which parameters are indexed', async () => {
    expect(await rowsOf(sql, 'Transfer(address from, address to, uint256 amount)')).toEqual(transfers)
    const unnamed = 'SELECT arg0, arg1, arg2 FROM transfer ORDER BY block_num, log_idx'
    expect(await rowsOf(unnamed, 'Transfer(address,address,uint256)')).toEqual(transfers)
  })

  it('are told by the logs of an unknown event, and refused where these leave it open', async () => {
    expect(await rowsOf('SELECT number FROM ping', 'Ping(uint256 number)')).toEqual([['42']])
    expect(await rowsOf('SELECT who, kind FROM marked', 'Marked(address who, uint8 kind)')).toEqual([
      [account(1), 200],
    ])
    expect(await failureOf('SELECT * FROM mixed', 'Mixed(address who, uint256 kind)')).toMatchObject({
      code: 'signature_invalid',
      message: expect.stringContaining('1 of its 2 parameters are indexed and nothing says which'),
    })
    expect(await rowsOf('SELECT who, kind FROM mixed', 'Mixed(address who, uint256 indexed kind)')).toEqual([
      [account(4), '3'],
    ])
    expect(await rowsOf('SELECT count(*) AS n FROM mixed', 'event Mixed(address who, uint256 kind)')).toEqual(
      [['0']],
    )
  })

  it('hide columns of logs of the same name; an indexed string is its hash', async () => {
    const signature = 'Noted(string indexed data, bytes address, string text)'
    expect(await rowsOf('SELECT data, address, text FROM noted', signature)).toEqual([
      [`0x${(77).toString(16).padStart(64, '0')}`, '0xbeef', 'h\ufffd0xc3a468003f'],
    ])
    const [row] = await rowsOf('SELECT * FROM noted', signature)
    expect(row).toHaveLength(13)
  })

  it('may be named like the height, which then bounds nothing', async () => {
    const signature = 'OrderSeen(uint128 indexed block_num, int24 indexed r, address t, bool w)'
    expect(await rowsOf('SELECT block_num, r, t, w FROM orderseen ORDER BY r', signature)).toEqual([
      ['7', -5, account(1), true],
      ['8', 12, account(2), false],
    ])
  })
})

describe('names', () => {
  it.each([
    'SELECT orderId, tick FROM OrderSeen ORDER BY orderId',
    'SELECT "orderId", tick FROM "OrderSeen" ORDER BY "OrderSeen"."orderId"',
    'SELECT ordersEEN.orderId, ORDERSEEN.tick FROM orderseen ORDER BY orderid',
    'WITH o AS (SELECT orderId, tick FROM OrderSeen) SELECT orderId, tick FROM o ORDER BY orderId',
    'SELECT x.orderId, tick FROM (SELECT orderId AS orderId, tick FROM OrderSeen) x ORDER BY orderId',
    'SELECT a.orderId, b.tick FROM OrderSeen a JOIN OrderSeen b ON a.orderId = b.orderId ORDER BY a.orderId',
  ])('stand in any case: %s', async (sql) => {
    expect((await rowsOf(sql, order)).map(([, tick]) => tick)).toEqual([-5, 12])
  })

  it('follow `as`, so that events of one name stand side by side', async () => {
    const nft = 'Transfer(address indexed from, address indexed to, uint256 indexed id) as nft'
    const sql =
      'SELECT n.id, t.amount FROM nft n JOIN Transfer t ON t."from" = n."from" AND t."to" = n."to" ORDER BY 2'
    expect(await rowsOf(sql, nft, transfer)).toEqual([
      ['99', '10'],
      ['99', null],
    ])
    expect(await failureOf(sql, nft.replace(' as nft', ''), transfer)).toMatchObject({
      code: 'signature_invalid',
    })
    expect(await failureOf('SELECT 1 AS one FROM blocks', 'Blocks(uint256 n)')).toMatchObject({
      code: 'signature_invalid',
    })
  })
})

describe('conditions on decoded columns', () => {
  const [one, two, three] = [account(1), account(2), account(3)]
  const tail = 'ORDER BY 1, 2, 3, 4'
  const pair = 'a.block_num, a.log_idx, b.block_num AS b, b.log_idx AS l'
  // {T} is the table; behind a sub-select nothing can be pushed down.
  it.each([
    `SELECT block_num, log_idx, "to", amount FROM {T} a WHERE "from" = '${one}' ${tail}`,
    `SELECT block_num, log_idx, "to", amount FROM {T} a WHERE "from" = '${one}' AND (amount = 5 OR "to" = '${two}') ${tail}`,
    `SELECT block_num, log_idx, "to", amount FROM {T} a WHERE "from" = '${one}' OR "to" = '${one}' ${tail}`,
    `SELECT block_num, log_idx, "to", amount FROM {T} a WHERE NOT ("from" = '${one}') ${tail}`,
    `SELECT block_num, log_idx, "to", amount FROM {T} a WHERE "from" IN ('${one}', '${three}') AND amount >= '5' ${tail}`,
    `SELECT block_num, log_idx, "to", amount FROM {T} a WHERE "from" NOT IN ('${one}', '${three}') ${tail}`,
    `SELECT ${pair} FROM {T} a JOIN {T} b ON a."to" = b."from" WHERE a."from" = '${one}' ${tail}`,
    `SELECT ${pair} FROM {T} a JOIN {T} b ON a."to" = b."from" WHERE b."to" = '${three}' AND a."from" = '${one}' ${tail}`,
    `SELECT ${pair} FROM {T} a JOIN {T} b ON a."from" = '${one}' AND a."to" = b."from" ${tail}`,
    `SELECT ${pair} FROM {T} a LEFT JOIN {T} b ON a."to" = b."from" AND b."to" = '${three}' ${tail}`,
    `SELECT ${pair} FROM {T} a LEFT JOIN {T} b ON a."to" = b."from" WHERE b."to" = '${three}' ${tail}`,
    `SELECT ${pair} FROM {T} a LEFT JOIN {T} b ON a."to" = b."from" AND b."from" = '${two}' WHERE a."from" = '${one}' ${tail}`,
    `SELECT ${pair} FROM {T} a LEFT JOIN {T} b ON a."to" = b."from" AND a."from" = '${one}' WHERE b.block_num IS NULL ${tail}`,
    `SELECT ${pair} FROM {T} a RIGHT JOIN {T} b ON a."to" = b."from" WHERE b."from" = '${one}' ${tail}`,
    `SELECT ${pair} FROM {T} a FULL JOIN {T} b ON a."to" = b."from" AND a.amount = b.amount WHERE a."from" = '${one}' ${tail}`,
    `SELECT a.block_num, a.log_idx FROM {T} a JOIN {T} b USING ("from") WHERE "from" = '${one}' ORDER BY 1, 2`,
    `SELECT block_num, log_idx FROM {T} a WHERE EXISTS (SELECT 1 FROM {T} b WHERE b."from" = a."to" AND b."from" = '${two}') ORDER BY 1, 2`,
    `SELECT block_num, log_idx FROM {T} a WHERE "from" IN (SELECT "to" FROM {T} b WHERE b."from" = '${three}') ORDER BY 1, 2`,
    `SELECT "from", count(*) AS n FROM {T} a WHERE "from" = '${one}' GROUP BY "from" HAVING count(*) > 1`,
    `SELECT n FROM (SELECT "from", row_number() OVER (ORDER BY block_num, log_idx) AS n FROM {T} a) x WHERE "from" = '${three}'`,
    `SELECT block_num, log_idx FROM {T} a WHERE "to" = '${two}' UNION ALL SELECT block_num, log_idx FROM {T} b WHERE "from" = '${two}' ORDER BY 1, 2`,
    `WITH t AS (SELECT "from", "to", block_num FROM {T} a) SELECT block_num FROM t WHERE "from" = '${one}' ORDER BY 1`,
    `SELECT a.block_num FROM {T} a, blocks b WHERE a."from" = '${one}' ORDER BY 1`,
  ])('keep their meaning: %s', async (sql) => {
    const pushed = await rowsOf(sql.replaceAll('{T}', 'Transfer'), transfer)
    const bare = '(SELECT * FROM Transfer)'
    const plain = await rowsOf(sql.replaceAll('{T}', bare), transfer)
    expect(pushed).toEqual(plain)
    if (!sql.includes('blocks b')) expect(pushed.length).toBeGreaterThan(0)
  })

  it.each([
    ['orderId = 7', 1],
    ["orderId = '8'", 1],
    ['tick = -5', 1],
    ['tick IN (12, -5)', 2],
    ['tick = 5', 0],
    ['orderId = -7', 0],
  ])('compare integers in topics: %s', async (condition, count) => {
    expect(await rowsOf(`SELECT count(*) AS n FROM OrderSeen WHERE ${condition}`, order)).toEqual([
      [String(count)],
    ])
  })

  it('are sums and comparisons of numbers up to 256 bits', async () => {
    expect(
      await rowsOf(`SELECT count(*) AS n FROM Transfer WHERE amount = '${uint256Max}'`, transfer),
    ).toEqual([['1']])
    expect(
      await rowsOf(
        'SELECT address, sum(amount) AS total FROM Transfer WHERE amount < 100 GROUP BY address ORDER BY 1',
        transfer,
      ),
    ).toEqual([
      [token, '11'],
      [otherToken, '5'],
    ])
  })
})

describe('calls of a function', () => {
  const calls = 'function transfer(address to, uint256 amount) returns (bool)'

  it('are found in the input and in each call of a 0x76 transaction', async () => {
    const sql =
      'SELECT block_num, call_idx, sender, address, call_value, "to", amount FROM transfer ORDER BY block_num, call_idx'
    expect(await rowsOf(sql, calls)).toEqual([
      ['1', 0, account(16), token, '3', account(2), '10'],
      ['4', 1, account(16), otherToken, '0', account(3), '7'],
      ['4', 2, account(16), token, '0', account(4), '8'],
      // Cut off: the call was made, and holds neither.
      ['5', 0, account(16), token, '0', null, null],
    ])
  })

  it('hold arrays, tuples and strings', async () => {
    const signature = 'function exec((address target, bytes data)[] steps, string reason)'
    const steps = [{ target: account(5), data: '0x0102' }]
    expect(await rowsOf('SELECT steps, reason, selector FROM exec ORDER BY block_num', signature)).toEqual([
      [steps, 'why', expect.stringMatching(/^0x[0-9a-f]{8}$/)],
      [steps, 'why', expect.stringMatching(/^0x[0-9a-f]{8}$/)],
    ])
  })

  it('join the events they caused', async () => {
    const sql =
      'SELECT c.block_num, c.amount FROM sent c JOIN Transfer e ON e."to" = c."to" AND e.amount = c.amount ORDER BY 1'
    expect(await rowsOf(sql, `${calls} as sent`, transfer)).toEqual([['1', '10']])
  })
})
