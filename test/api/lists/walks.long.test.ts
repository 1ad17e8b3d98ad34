// Goal: full walks of a long chain hold every transfer, receipt, fee and activity, each once.
// Method: 30,000 recorded transactions in a real store behind a real server, against what viem
// makes of the raw answers.
import { hexToBigInt } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecording } from '../../chain/recordings.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { ActivityOracle } from '../activities/support/activityOracle.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { readOracle } from '../support/oracle.ts'
import { recordedTransfers } from '../support/transferOracle.ts'

const recording = 'tempo-dev-30k'
const lastBlock = 744
const attodollarsPerUnit = 10n ** 12n

describe('walks of the long recording', () => {
  let api: ChainApi
  let oracle: ActivityOracle
  beforeAll(async () => {
    oracle = new ActivityOracle(readRecording(recording))
    api = await openChainApi()
    await api.append(recordedBatches(recording, 25))
    await api.finalize(lastBlock)
  }, 600_000)
  afterAll(() => api.close())

  test('all transfers, with memos, names and both orders', async () => {
    const expected = recordedTransfers(recording)
    expect(expected.length).toBeGreaterThan(50_000)
    const path = '/v1/transfers?limit=200&include=memo,token'
    expect(await walk(api, path)).toEqual(expected.toReversed())
    expect(await walk(api, `${path},crossToken&order=asc`)).toEqual(expected)
  }, 600_000)

  test('all receipts, with fees by the rule of the chain', async () => {
    const { transactions } = readOracle(recording)
    const rows = await walk(api, '/v1/receipts?limit=200&order=asc')
    expect(
      rows.map(({ id, status, feeAmount, feePayer, feeToken }) => [
        id,
        status,
        feeAmount,
        feePayer,
        feeToken,
      ]),
    ).toEqual(
      transactions.map(({ hash, status, feePayer, feeToken, receipt }) => {
        const cost = hexToBigInt(receipt['gasUsed']) * hexToBigInt(receipt['effectiveGasPrice'])
        const fee = (cost + attodollarsPerUnit - 1n) / attodollarsPerUnit
        return [hash, status, `${fee}`, feePayer ?? undefined, feeToken ?? undefined]
      }),
    )
    expect(rows.map(({ meta }) => JSON.stringify(meta.rpc))).toEqual(
      transactions.map(({ receipt }) => JSON.stringify(receipt)),
    )
  }, 600_000)

  test('the feeds of the five accounts that sent most, of the exchange and of the zero address', async () => {
    const senders = [...Map.groupBy(oracle.transactions, ({ from }) => from)]
      .sort(([, a], [, b]) => b.length - a.length)
      .slice(0, 5)
      .map(([from]) => from)
    const exchange = '0xdec0000000000000000000000000000000000000'
    for (const account of [...senders, exchange, `0x${'0'.repeat(40)}`]) {
      const rows = await walk(api, `/v1/addresses/${account}/activities?limit=200`)
      expect(rows.map(({ events: _, ...item }) => item)).toEqual(oracle.feedOf(account))
      expect(rows.length).toBeGreaterThan(100)
    }
  }, 600_000)
})
