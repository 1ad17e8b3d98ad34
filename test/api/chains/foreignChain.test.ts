// Goal: chains that are not Tempo serve the same lists, with fees in their own coin and with
// everybody's tokens.
// Method: real blocks of Ethereum before Byzantium and after London and of a rollup, in a real
// store behind a real server; expectations from the raw answers by viem and by rules of the test's
// own.
import { hexToBigInt, hexToNumber, parseAbi, parseEventLogs, type RpcLog } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TokenNames } from '#present/tokenNames.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { decode } from '../../store/support/chainStore.ts'
import { readRealBlock } from '../../support/realBlocks.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { ActivityOracle } from '../activities/support/activityOracle.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { commonest, type RpcObject } from '../support/oracle.ts'

const chains = [
  ['ethereum', 1_000_000],
  ['ethereum', 18_500_000],
  ['optimism', 154_497_277],
] as const

const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
const typeNames: Readonly<Record<string, string>> = { '0x0': 'legacy', '0x1': 'eip2930', '0x2': 'eip1559' }

/** A token of eighteen decimals and one of six. */
const names = {
  weth: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  usdc: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
}
const tokenNames: TokenNames = {
  read: async (_, tokens) =>
    new Map(
      [
        { address: names.weth, symbol: 'WETH', decimals: 18 },
        { address: names.usdc, symbol: 'USDC', decimals: 6 },
      ]
        .filter(({ address }) => tokens.includes(address))
        .map(({ address, symbol, decimals }) => [
          address,
          { name: symbol, symbol, decimals, currency: '', logoUri: null, verified: false },
        ]),
    ),
}

/** One block of a chain, held by a server of its own. */
interface Foreign {
  readonly api: ChainApi
  readonly check: ResponseCheck
  readonly recorded: RecordedBlock
  readonly block: RpcObject
  readonly receipts: readonly RpcObject[]
  readonly place: { readonly blockNumber: number; readonly blockHash: string; readonly timestamp: string }
}

const opened = new Map<number, Foreign>()
beforeAll(async () => {
  for (const [chain, height] of chains) opened.set(height, await open(chain, height))
})
afterAll(async () => {
  for (const { api } of opened.values()) await api.close()
})

function foreignAt(height: number): Foreign {
  const foreign = opened.get(height)
  if (!foreign) throw new Error(`no chain with block ${height}`)
  return foreign
}

async function open(chain: (typeof chains)[number][0], height: number): Promise<Foreign> {
  const recorded = readRealBlock(chain, `${height}`)
  const block = recorded.block as RpcObject
  const api = await openChainApi({
    kind: 'evm',
    headFrom: height,
    startBlock: height,
    services: { tokenNames },
  })
  await api.append([decode({ ...rangeOf([recorded]), endpoint: 'fixture' }, 'roots', ethereumProfile)])
  await api.finalize(height)
  return {
    ...{ api, recorded, block },
    check: await responseCheck(api),
    receipts: recorded.receipts as readonly RpcObject[],
    place: {
      blockNumber: height,
      blockHash: block['hash'],
      timestamp: iso(Number(block['timestamp'])),
    },
  }
}

const transactionsOf = ({ block }: Foreign) => block['transactions'] as readonly RpcObject[]

/** Rows of transfers: what each transaction paid of the coin, then what its logs say of tokens. */
const transfersOf = (foreign: Foreign) =>
  foreign.receipts.flatMap((receipt, index) => [
    ...valueIn(foreign, transactionsOf(foreign)[index], receipt),
    ...tokensIn(foreign, receipt),
  ])

const transferAbi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 amount)'])

function tokensIn({ place }: Foreign, { logs }: RpcObject) {
  return parseEventLogs({ abi: transferAbi, logs: logs as RpcLog[] }).map(
    ({ args, address, transactionHash, logIndex }) => ({
      id: `${transactionHash}-${Number(logIndex)}`,
      blockNumber: place.blockNumber,
      logIndex: Number(logIndex),
      timestamp: place.timestamp,
      transactionHash,
      sender: args.from.toLowerCase(),
      recipient: args.to.toLowerCase(),
      sourceToken: {
        ...{ address, amount: `${args.amount}`, decimals: null },
        ...(address === names.weth && nameOf('WETH', 18)),
        ...(address === names.usdc && nameOf('USDC', 6)),
      },
    }),
  )
}

const nameOf = (symbol: string, decimals: number) => ({
  ...{ name: symbol, symbol, decimals, currency: '', verified: false },
})

/** Before Byzantium receipts do not say whether anything was paid. */
function valueIn({ place }: Foreign, tx: RpcObject | undefined, receipt: RpcObject) {
  const amount = BigInt(tx?.['value'] ?? 0)
  if (amount === 0n || receipt['status'] !== '0x1') return []
  const { blockNumber, timestamp } = place
  return [
    {
      ...{ id: `${receipt['transactionHash']}-value`, blockNumber, logIndex: null, timestamp },
      ...{ transactionHash: receipt['transactionHash'], sender: receipt['from'] },
      recipient: receipt['to'] ?? receipt['contractAddress'],
      sourceToken: { address: null, amount: `${amount}`, decimals: 18 },
    },
  ]
}

/** Wei: gas at its price, and on the rollup what the data cost below. */
const feeOf = (receipt: RpcObject) =>
  hexToBigInt(receipt['gasUsed']) * hexToBigInt(receipt['effectiveGasPrice']) +
  hexToBigInt(receipt['l1Fee'] ?? '0x0')

const receiptOf = ({ place }: Foreign, receipt: RpcObject) => ({
  ...place,
  id: receipt['transactionHash'],
  transactionHash: receipt['transactionHash'],
  transactionIndex: hexToNumber(receipt['transactionIndex']),
  sender: receipt['from'],
  recipient: receipt['to'],
  contractAddress: receipt['contractAddress'],
  status: receipt['status'] ? (receipt['status'] === '0x1' ? 'succeeded' : 'reverted') : null,
  type: typeNames[receipt['type']] ?? 'unknown',
  gasUsed: hexToNumber(receipt['gasUsed']),
  cumulativeGasUsed: hexToNumber(receipt['cumulativeGasUsed']),
  effectiveGasPrice: `${hexToBigInt(receipt['effectiveGasPrice'])}`,
  feeAmount: `${feeOf(receipt)}`,
  feePayer: receipt['from'],
  logs: receipt['logs'],
  meta: { rpc: receipt },
})

const amountOf = (tx: RpcObject, name: string) => tx[name] && { [name]: `${hexToBigInt(tx[name])}` }
const transactionOf = ({ api, place }: Foreign, tx: RpcObject) => ({
  ...place,
  id: tx['hash'],
  hash: tx['hash'],
  transactionIndex: hexToNumber(tx['transactionIndex']),
  chainId: api.chainId,
  sender: tx['from'],
  recipient: tx['to'],
  type: typeNames[tx['type']] ?? 'unknown',
  // The fixture's deposit has none.
  nonce: hexToNumber(tx['nonce'] ?? '0x0'),
  gas: hexToNumber(tx['gas']),
  ...amountOf(tx, 'gasPrice'),
  ...amountOf(tx, 'maxFeePerGas'),
  ...amountOf(tx, 'maxPriorityFeePerGas'),
  value: `${hexToBigInt(tx['value'])}`,
  input: tx['input'],
})

describe.each(chains)('%s %i, as the node gave it', (_chain, height) => {
  test('blocks, alone and listed', async () => {
    const foreign = foreignAt(height)
    const { api, check, block, place } = foreign
    const list = await api.get('/v1/blocks')
    expect(check('/v1/blocks', list)).toEqual([])
    expect(list.body.data).toEqual([
      {
        id: block['hash'],
        hash: block['hash'],
        number: height,
        timestamp: place.timestamp,
        transactionCount: transactionsOf(foreign).length,
      },
    ])
    const one = await api.get(`/v1/blocks/${height}`)
    expect(check('/v1/blocks/{block}', one)).toEqual([])
    const baseFee = block['baseFeePerGas']
    expect(one.body.baseFeePerGas).toBe(baseFee ? `${hexToBigInt(baseFee)}` : null)
    const payload = { ...block, transactions: transactionsOf(foreign).map((tx) => tx['hash']) }
    expect(JSON.stringify(one.body.meta.rpc)).toBe(JSON.stringify(payload))
  })

  test('transactions, each as the node gave it', async () => {
    const foreign = foreignAt(height)
    const { api, check } = foreign
    const rows = await walk(api, '/v1/transactions?limit=50&order=asc', async (page) => {
      expect(check('/v1/transactions', page)).toEqual([])
    })
    expect(rows.map(({ meta: _, ...row }) => row)).toEqual(
      transactionsOf(foreign).map((tx) => transactionOf(foreign, tx)),
    )
    expect(rows.map(({ meta }) => JSON.stringify(meta.rpc))).toEqual(
      transactionsOf(foreign).map((tx) => JSON.stringify(tx)),
    )
  })

  test('receipts with fees in the smallest unit of the native coin, paid by the sender in no token', async () => {
    const foreign = foreignAt(height)
    const { api, check, receipts } = foreign
    const rows = await walk(api, '/v1/receipts?limit=50&order=asc&include=feeToken', async (page) => {
      expect(check('/v1/receipts', page)).toEqual([])
    })
    expect(rows).toEqual(receipts.map((receipt) => receiptOf(foreign, receipt)))
    for (const { id } of rows.slice(0, 3))
      expect((await api.get(`/v1/receipts/${id}`)).body).toEqual(rows.find((row) => row.id === id))
    const total = receipts.reduce((sum, receipt) => sum + feeOf(receipt), 0n)
    expect(rows.reduce((sum, row) => sum + BigInt(row.feeAmount), 0n)).toBe(total)
    expect(total > 0n).toBe(true)
  })

  test('filters by who sent and paid; nobody paid in a token', async () => {
    const { api, receipts } = foreignAt(height)
    const sender = commonest(receipts.map((receipt) => receipt['from']))
    const expected = receipts.filter((receipt) => receipt['from'] === sender)
    expect(expected.length).toBeLessThan(receipts.length)
    for (const name of ['sender', 'feePayer']) {
      const rows = await walk(api, `/v1/receipts?${name}=${sender}&order=asc`)
      expect(rows.map(({ id }) => id)).toEqual(expected.map((receipt) => receipt['transactionHash']))
    }
    expect((await api.get(`/v1/transactions?feeToken=${names.weth}`)).body.data).toEqual([])
    const failed = receipts.filter((receipt) => receipt['status'] === '0x0')
    const reverted = await walk(api, '/v1/transactions?status=reverted&order=asc')
    expect(reverted.map(({ hash }) => hash)).toEqual(failed.map((receipt) => receipt['transactionHash']))
  })
})

describe.each(chains)('%s %i, as its logs and calls say', (_chain, height) => {
  test("transfers of everybody's tokens, with decimals where they are known", async () => {
    const { api, check } = foreignAt(height)
    const expected = transfersOf(foreignAt(height))
    const path = '/v1/transfers?limit=50&order=asc&include=token,memo'
    const rows = await walk(api, path, async (page) => {
      expect(check('/v1/transfers', page)).toEqual([])
    })
    expect(rows).toEqual(expected)
    expect(await walk(api, `${path},crossToken`)).toEqual(expected)
    if (expected.length === 0) return
    const token = commonest(expected.flatMap(({ sourceToken }) => sourceToken.address ?? []))
    const ofToken = expected.filter(({ sourceToken }) => sourceToken.address === token)
    expect(ofToken.length).toBeLessThan(expected.length)
    expect(await walk(api, `${path}&token=${token}`)).toEqual(ofToken)
    const party = commonest(expected.flatMap(({ sender, recipient }) => [sender, recipient]))
    expect(await walk(api, `${path}&address=${party}`)).toEqual(
      expected.filter(({ sender, recipient }) => sender === party || recipient === party),
    )
  })

  test('activities of its transactions and of its busiest accounts', async () => {
    const { api, recorded, receipts } = foreignAt(height)
    const oracle = new ActivityOracle([recorded])
    const nameless = (item: RpcObject) => {
      const { events: _, ...rest } = item
      return JSON.parse(JSON.stringify(rest, (key, value) => (named.includes(key) ? undefined : value)))
    }
    for (const tx of oracle.transactions) {
      const { body } = await api.get(`/v1/transactions/${tx.hash}/activities`)
      expect(body.data.map(nameless)).toEqual(oracle.activitiesOf(tx, tx.from).map(nameless))
    }
    const accounts = new Set([
      commonest(receipts.map((receipt) => receipt['from'])),
      commonest(receipts.map((receipt) => receipt['to'])),
    ])
    for (const account of accounts) {
      const rows = await walk(api, `/v1/addresses/${account}/activities?limit=50`)
      expect(rows.map(nameless)).toEqual(oracle.feedOf(account).map(nameless))
    }
  })
})

/** Fields that this file's own names add to amounts. */
const named = ['name', 'symbol', 'decimals', 'currency']
