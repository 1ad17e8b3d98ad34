// Goal: a contract that only the operator knows has tables on both engines, also of blocks indexed
// before it was declared, and names transactions in activity feeds. Method: the recorded chain,
// declared contracts of it, answers over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeclaredEvent } from '#api/operator/declaredContracts.ts'
import { declareContracts } from '#api/operator/declaredContracts.ts'
import { SettingError } from '#errors.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'

const recording = 'tempo-dev-2k'
const exchange = '0xdec0000000000000000000000000000000000000' as const
const orderPlaced =
  'OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)'
const event = (signature: string, activity: string | null = null): DeclaredEvent => ({ signature, activity })

describe('declared contracts', () => {
  let api: ChainApi
  beforeAll(async () => {
    api = await openChainApi({
      declared: declareContracts([
        { name: 'dex', address: exchange, events: [event(orderPlaced, 'Order seen')] },
        { name: 'nobody', address: `0x${'99'.repeat(20)}`, events: [event(orderPlaced, 'Never')] },
        { name: 'any', address: null, events: [event(`event ${orderPlaced}`)] },
      ]),
    })
    await api.append(recordedBatches(recording, 10))
    await api.finalize(122)
    await api.fillClickHouse()
  })
  afterAll(() => api.close())

  test('their events are tables, of that contract alone', async () => {
    const read = async (table: string, engine: string) => {
      const sql = `SELECT block_num, log_idx, orderId, maker, amount, tick FROM ${table} ORDER BY block_num, log_idx`
      const { body } = await api.get(`/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(sql)}`)
      return body.rows
    }
    const rows = await read('dex_orderplaced', 'postgres')
    expect(rows.length).toBeGreaterThan(0)
    expect(await read('Dex_OrderPlaced', 'clickhouse')).toEqual(rows)
    expect(await read('any_orderplaced', 'postgres')).toEqual(rows)
    expect(await read('nobody_orderplaced', 'postgres')).toEqual([])
  })

  test('the schema has them', async () => {
    const { body } = await api.get('/v1/indexer/schema')
    const names = body.relations.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['blocks', 'dex_orderplaced', 'any_orderplaced']))
  })

  test('a transaction with such an event is named after it, for who sent it', async () => {
    const sql = 'SELECT tx_hash, maker, orderId FROM dex_orderplaced ORDER BY block_num, log_idx LIMIT 1'
    const { body: found } = await api.get(`/v1/indexer/query?sql=${encodeURIComponent(sql)}`)
    const [hash, maker, orderId] = found.rows[0]
    const { body } = await api.get(`/v1/transactions/${hash}/activities`)
    expect(body.data[0]).toMatchObject({
      type: 'dex:OrderPlaced',
      title: 'Order seen',
      transactionHash: hash,
      data: {
        contract: exchange,
        event: 'OrderPlaced',
        args: { orderId, maker },
        signer: expect.any(String),
      },
    })
    const feed = await walk(api, `/v1/addresses/${maker}/activities?limit=200`)
    expect(feed.map(({ type }) => type)).toContain('dex:OrderPlaced')
  })

  test.each([
    ['shop', 'Sold(uint257 price)', null, 'uint257 is no ABI type'],
    ['shop', 'function sell(uint256 price)', null, 'is not an event'],
    ['shop', 'Sold(uint256)', 'Item sold', 'a parameter without a name'],
    ['shop', 'Sold(address to, uint256 to)', 'Item sold', 'two of its parameters are named to'],
    ['shop', `${'S'.repeat(60)}(uint256 a)`, null, 'too long'],
    ['token', 'transfers(uint256 a)', null, 'make two tables `token_transfers`'],
  ])('what cannot be declared is told before the start: %s %s', (name, signature, activity, problem) => {
    const declare = () => declareContracts([{ name, address: null, events: [event(signature, activity)] }])
    expect(declare).toThrow(SettingError)
    expect(declare).toThrow(problem)
    expect(declare).not.toThrow('\n')
  })
})
