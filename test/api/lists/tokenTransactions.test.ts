// Goal: a token's transactions are those in which it did more than pay the fee, none missing and
// none twice.
// Method: the recorded chain in a real store behind a real server; expectations from the recording
// by rules of their own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { share } from '../../support/breadth.ts'
import { type ChainApi, namedToken, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import {
  commonest,
  type Oracle,
  type OracleTransaction,
  type RpcObject,
  readOracle,
} from '../support/oracle.ts'

const recording = 'tempo-dev-2k'
const template = '/v1/tokens/{token}/transactions'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const feeManagerTopic = `0x${'0'.repeat(24)}feec${'0'.repeat(36)}`

const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

const isToFeeManager = (log: RpcObject) =>
  log['topics'][0] === transferTopic && log['topics'][2] === feeManagerTopic

/** Logs but the closing fee; `feeToken` says whether there is one. */
function logsOf({ receipt, feeToken }: OracleTransaction): readonly RpcObject[] {
  const logs: readonly RpcObject[] = receipt['logs']
  return feeToken === null ? logs : logs.slice(0, -1)
}

describe('transactions of a token', () => {
  let api: ChainApi
  let oracle: Oracle
  let check: ResponseCheck
  beforeAll(async () => {
    oracle = readOracle(recording)
    api = await openChainApi()
    await api.append(recordedBatches(recording, 10))
    await api.finalize(100)
    check = await responseCheck(api)
  })
  afterAll(() => api.close())

  const usedBy = (token: string) =>
    oracle.transactions.filter((tx) => logsOf(tx).some((log) => log['address'] === token))
  const pathOf = (token: string, query = '') => `${template.replace('{token}', token)}?${query}`

  test('each token has its own, newest first or oldest first, and a total', async () => {
    const tokens = new Set(oracle.transactions.flatMap((tx) => logsOf(tx).map((log) => log['address'])))
    expect(tokens.size).toBeGreaterThan(10)
    for (const token of share([...tokens], 5)) {
      const expected = usedBy(token).map((tx) => tx.hash)
      const rows = await walk(api, pathOf(token, 'limit=200'), async (page) => {
        expect(check(template, page)).toEqual([])
      })
      expect(rows.map((row) => row.hash)).toEqual(expected.toReversed())
      const oldest = await walk(api, pathOf(token, 'limit=150&order=asc'))
      expect(oldest.map((row) => row.hash)).toEqual(expected)
      const { body } = await api.get(pathOf(token, 'include=totalCount'))
      expect(body.meta).toEqual({ totalCount: expected.length, totalCountCapped: false })
    }
  })

  test('one that only paid its fee in the token is not among them, one that deposited it is', async () => {
    const rows = new Set((await walk(api, pathOf(namedToken, 'limit=200'))).map((row) => row.hash))
    const onlyPaid = oracle.transactions.filter(
      (tx) => tx.feeToken === namedToken && !logsOf(tx).some((log) => log['address'] === namedToken),
    )
    expect(onlyPaid.length).toBeGreaterThan(50)
    expect(onlyPaid.filter((tx) => rows.has(tx.hash))).toEqual([])
    const onlyDeposited = oracle.transactions.filter((tx) => {
      const own = logsOf(tx).filter((log) => log['address'] === namedToken)
      return own.length > 0 && own.every(isToFeeManager)
    })
    expect(onlyDeposited.length).toBeGreaterThan(0)
    expect(onlyDeposited.every((tx) => rows.has(tx.hash))).toBe(true)
  })

  test('a page by number holds the rows a walk has there', async () => {
    const rows = await walk(api, pathOf(namedToken, 'limit=200'))
    const { body } = await api.get(pathOf(namedToken, 'limit=20&page=4'))
    expect(body.data.map((row: { hash: string }) => row.hash)).toEqual(
      rows.slice(60, 80).map((row) => row.hash),
    )
    expect((await api.get(pathOf(namedToken, 'limit=200&page=50'))).body.data).toEqual([])
  })

  type Case = [string, (tx: OracleTransaction, of: Facts) => boolean]
  interface Facts {
    readonly payer: string
    readonly sponsor: string
    readonly otherToken: string
    readonly middle: string
  }
  const cases: Case[] = [
    ['feePayer={payer}', (tx, of) => tx.feePayer === of.payer],
    ['feePayer={sponsor}', (tx, of) => tx.feePayer === of.sponsor],
    [`feeToken=${namedToken}`, (tx) => tx.feeToken === namedToken],
    ['feeToken={otherToken}', (tx, of) => tx.feeToken === of.otherToken],
    [
      `feePayer={payer}&feeToken=${namedToken}`,
      (tx, of) => tx.feePayer === of.payer && tx.feeToken === namedToken,
    ],
    ['blockNumber.from=40&blockNumber.to=60', (tx) => tx.blockNumber >= 40 && tx.blockNumber <= 60],
    ['timestamp.from={middle}', (tx, of) => iso(tx.timestampSeconds) >= of.middle],
    [
      'timestamp.to={middle}&feePayer={payer}',
      (tx, of) => iso(tx.timestampSeconds) <= of.middle && tx.feePayer === of.payer,
    ],
  ]
  test.each(share(cases, 3))('filtered by "%s"', async (query, matches) => {
    const all = usedBy(namedToken)
    const facts = {
      payer: commonest(all.map((tx) => tx.feePayer)),
      sponsor: commonest(all.map((tx) => (tx.feePayer === tx.sender ? null : tx.feePayer))),
      otherToken: commonest(all.map((tx) => (tx.feeToken === namedToken ? null : tx.feeToken))),
      middle: iso(Number(oracle.blocks[60]?.['timestamp'])),
    }
    const text = query.replaceAll(/\{(\w+)\}/g, (_, name: keyof Facts) => facts[name])
    const expected = all.filter((tx) => matches(tx, facts)).map((tx) => tx.hash)
    expect(expected.length).toBeGreaterThan(0)
    expect(expected.length).toBeLessThan(all.length)
    const path = pathOf(namedToken, `limit=20&${text}`)
    expect((await walk(api, path)).map((row) => row.hash)).toEqual(expected.toReversed())
    expect((await walk(api, `${path}&order=asc`)).map((row) => row.hash)).toEqual(expected)
    const { body } = await api.get(`${path}&include=totalCount`)
    expect(body.meta.totalCount).toBe(expected.length)
  })

  test('the token and the fee tokens are named where asked for and known', async () => {
    const named = await api.get(pathOf(namedToken, 'limit=200&include=token,feeToken'))
    expect(check(template, named)).toEqual([])
    expect(named.body.meta.token).toMatchObject({ address: namedToken, symbol: 'pathUSD', decimals: 6 })
    for (const { feeToken, meta } of named.body.data)
      expect(meta.feeToken?.symbol).toBe(feeToken === namedToken ? 'pathUSD' : undefined)
    const other = commonest(oracle.transfers.map((row) => (row.token === namedToken ? null : row.token)))
    expect((await api.get(pathOf(other, 'include=token'))).body.meta).toBeUndefined()
    expect((await api.get(pathOf(namedToken))).body.meta).toBeUndefined()
  })

  test.each([
    ['/v1/tokens/0x12/transactions', 400, 'token_invalid', ['param', 'token']],
    [pathOf(namedToken, 'sender=0x'), 400, 'query_invalid', ['query', 'sender']],
    [pathOf(namedToken, 'feeToken=usd'), 400, 'query_invalid', ['query', 'feeToken']],
    [pathOf(namedToken, 'include=receipt'), 400, 'query_invalid', ['query', 'include']],
    [pathOf(namedToken, 'limit=1'), 400, 'query_invalid', ['query', 'limit']],
    [pathOf(namedToken, 'page=51&limit=200'), 400, 'query_invalid', ['query', 'page']],
    [pathOf(namedToken, 'page=2&cursor=a'), 422, 'parameter_conflict', ['query', 'page']],
    [
      pathOf(namedToken, 'blockNumber.from=9&blockNumber.to=8'),
      422,
      'range_invalid',
      ['query', 'blockNumber.from'],
    ],
  ])('%s is refused with %i %s', async (path, status, code, place) => {
    const answer = await api.get(path)
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([
      status,
      code,
      place,
    ])
  })
})
