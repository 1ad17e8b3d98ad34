// Goal: one chain with what Tempo's forks brought since T5 (fees over two pools, refused transfers,
// any nonce, burns of others, logs and signatures of T10 to T14) is the same in both stores, lists,
// feeds, folds, webhooks, SQL and JSON-RPC, and after rows are made anew.
// Method: signed blocks that are true to their headers; what they must say is read from the node's
// JSON by viem and by hand.
import { type Hex, toEventSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import { outdateAll, rederiveRows } from '#store/maintain/rederive.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { readQueriesPage } from '../../query/support/queriesPage.ts'
import { decode } from '../../store/support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../../store/support/expectHeld.ts'
import { FeeRouteOracle, idOf } from '../../store/support/feeRouteOracle.ts'
import { followersOf, silentCalls } from '../../store/support/followers.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import type { TempoBlock } from '../../support/tempoBlock.ts'
import { devProfile, rangeOf } from '../../transform/ranges.ts'
import { expectConforming } from '../../webhooks/support/conforms.ts'
import { openService, type Service } from '../../webhooks/support/openService.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import { responseCheck } from '../support/openapi.ts'
import type { RpcObject } from '../support/oracle.ts'
import { openRpcApi, type RpcApi } from '../support/rpcApi.ts'
import { pathUsd } from '../support/writtenBook.ts'
import { guard, holdEvents, zero } from '../support/writtenHolds.ts'
import { feeds } from './support/feedsOfChain.ts'
import { forkedChain, laterLogs, nonces, stateGas, tokens, who } from './support/forkedChain.ts'
import {
  argsOf,
  heldAfter,
  logsOf,
  movementsOf,
  receiptsOf,
  refusedAfter,
  toldRows,
  txsOf,
} from './support/toldOfChain.ts'

const profile = { ...devProfile, headerRule: 'tempo', senders: everySender } as const
const burnTopic = toEventSelector('BurnAt(address,address,uint256)')
const feeManager = '0xfeec000000000000000000000000000000000000'
const noNode = ['http://127.0.0.1:9']

let chain: readonly TempoBlock[]
let batches: readonly EncodedBatch[]
let api: ChainApi
let rpc: RpcApi
let service: Service
let receiver: Receiver
let check: Awaited<ReturnType<typeof responseCheck>>
const last = () => chain.length - 1
const subscribe = (path: string, eventType: string, filters: object) =>
  service.subscribe({ eventType, filters, destination: { type: 'url', url: receiver.url(path) } })
const settle = () =>
  followersOf(api.store, { callContracts: silentCalls, only: ['tokens', 'balances', 'fee_pools'] }).settle()

beforeAll(async () => {
  chain = await forkedChain()
  batches = chain.map((block) => decode({ ...rangeOf([block]), endpoint: 'test' }, 'roots', profile))
  api = await openChainApi()
  receiver = await openReceiver()
  await api.append(batches.slice(0, 1))
  service = await openService({ store: api.store })
  await service.append([])
  await subscribe('/txs', 'transaction:included', { nonce: { gte: '0x8000000000000000' }, from: who.bob })
  await subscribe('/burns', 'log:emitted', { signature: holdEvents.burnAt.slice('event '.length) })
  await subscribe('/held', 'log:emitted', { signature: holdEvents.blocked.slice('event '.length) })
  service.start()
  await service.append(batches.slice(1))
  await api.append([])
  await settle()
  await api.finalize(last())
  await api.fillClickHouse()
  const { state, store, chainId } = api
  rpc = await openRpcApi({ urls: noNode, chainId, stored: { state, postgres: store.postgres } })
  check = await responseCheck(api)
})
afterAll(async () => {
  await rpc?.close()
  await service?.close()
  await api?.close()
})

/** Rows of one statement, the same on both engines; values as text. */
async function sqlRows(sql: string, signatures: readonly string[] = []): Promise<readonly string[][]> {
  const { postgres, clickhouse } = api.services.sql
  const found = []
  for (const engine of [postgres, clickhouse]) {
    const { rows } = await engine.run({
      ...{ chainId: api.chainId, sql, signatures, limit: 1_000, timeoutMs: 20_000 },
    })
    found.push(rows.map((row) => row.map(String)))
  }
  expect(found[1]).toEqual(found[0])
  return found[0] ?? []
}

async function expectStored(): Promise<void> {
  await expectInPostgres(api.store, batches)
  await expectInClickHouse(api.store, batches)
  for (const { sql, rows } of toldRows(chain)) expect([sql, await sqlRows(sql)]).toEqual([sql, rows])
}

async function expectBalances(): Promise<void> {
  const held = heldAfter(chain)
  for (const holder of [...Object.values(who), guard, feeManager]) {
    const balances = await walk(api, `/v1/addresses/${holder}/balances`)
    expect(balances.map(({ id, amount }) => [id, amount]).toSorted()).toEqual(
      Object.values({ ...tokens, pathUsd })
        .flatMap((token) => {
          const amount = held.get(`${holder} ${token}`) ?? 0n
          return amount === 0n ? [] : [[token, `${amount}`]]
        })
        .toSorted(),
    )
  }
  for (const token of Object.values(tokens)) {
    const { body } = await api.get(`/v1/tokens/${token}?include=totalSupply`)
    expect([token, body.totalSupply]).toEqual([token, `${-(held.get(`${zero} ${token}`) ?? 0n)}`])
  }
}

describe('a chain of all forks since T5', () => {
  test('is proved to the last block, and what both stores hold is what the node told', async () => {
    expect(batches.map(({ proofs }) => proofs)).toEqual(
      batches.map(() => ({ provedBlocks: 1, unprovableBlocks: 0, unprovableTxs: 0, unprovableParts: [] })),
    )
    await expectStored()
  })

  test('is in lists and single answers with all its digits, as the node told it', async () => {
    const list = await walk(api, '/v1/transactions?order=asc&limit=5')
    expect(list.map(({ meta }) => meta.rpc)).toMatchObject(txsOf(chain).map(({ yParity, ...tx }) => tx))
    expect(list.map(({ signatureType }) => signatureType)).toEqual(
      toldNames(txsOf(chain).map(({ signature }) => signature)),
    )
    expect(check('/v1/transactions', await api.get('/v1/transactions?limit=50'))).toEqual([])
    const textOf = async (path: string) => (await fetch(api.server.origin + path)).text()
    const ofBob = await textOf(`/v1/transactions?sender=${who.bob}&order=asc&limit=20`)
    expect([...ofBob.matchAll(/"nonce":(\d+),/g)].map(([, digits]) => BigInt(digits ?? ''))).toEqual(nonces)
    for (const tx of txsOf(chain)) {
      const path = `/v1/transactions/${tx['hash']}`
      expect(await textOf(path)).toContain(`"nonce":${BigInt(tx['nonce'])},`)
      const { body } = await api.get(`/v1/receipts/${tx['hash']}`)
      const receipt = receiptsOf(chain).find(({ transactionHash }) => transactionHash === tx['hash'])
      expect(body.meta.rpc).toMatchObject({ gasUsed: receipt?.['gasUsed'], feeToken: receipt?.['feeToken'] })
      expect(body.feeAmount).toBe(`${BigInt(receipt?.['logs'].at(-1).data)}`)
    }
    // The gas that its transactions paid for is more than what the header counts.
    const { body } = await api.get(`/v1/blocks/${last()}`)
    const paid = (chain.at(-1)?.receipts ?? []).reduce(
      (sum, { gasUsed }) => sum + BigInt(String(gasUsed)),
      0n,
    )
    expect(BigInt(body.gasUsed)).toBe(paid - stateGas)
  })

  test('moves tokens as its logs say, in the list of transfers and in balances', async () => {
    const rows = await walk(api, '/v1/transfers?order=asc&limit=50')
    expect(
      rows.map(({ id, sender, recipient, sourceToken }) => [id, sender, recipient, sourceToken.amount]),
    ).toEqual(
      movementsOf(chain).map(({ log, from, to, amount }) => [
        ...[`${log['transactionHash']}-${Number(log['logIndex'])}`, from, to, `${amount}`],
      ]),
    )
    await expectBalances()
  })

  test('holds for receivers what they refused, until it is claimed or burned', async () => {
    const expected = refusedAfter(chain)
    expect(expected).toHaveLength(2)
    const [query] = readQueriesPage('sql.md').filter(({ sql }) => sql.includes('TransferBlocked'))
    expect(await sqlRows(query?.sql ?? '', query?.signatures)).toEqual(expected)
  })

  test('pays its fees over the pools that the chain turned them by', async () => {
    const oracle = oracleOf(chain)
    expect(oracle.routes.slice(-7, -4)).toEqual(['twoHops', 'direct', 'twoHops'])
    await expectPools(oracle)
  })
})

async function expectPools(oracle: FeeRouteOracle): Promise<void> {
  const rows = await walk(api, '/v1/fee-amm/pools?limit=5')
  const poolOf = ({ userToken, validatorToken }: RpcObject) => [
    idOf(userToken['address'], validatorToken['address']),
    { user: BigInt(userToken['amount']), validator: BigInt(validatorToken['amount']) },
  ]
  expect(Object.fromEntries(rows.map(poolOf))).toEqual(Object.fromEntries(oracle.pools))
}

describe('what is told and derived of a chain of all forks since T5', () => {
  async function feedOf(viewer: Hex) {
    const path = `/v1/addresses/${viewer}/activities`
    expect(check('/v1/addresses/{address}/activities', await api.get(path))).toEqual([])
    const rows = await walk(api, `${path}?limit=5`)
    return rows.toReversed().map(({ type, title, perspective, data }) => {
      const { sender, recipient, signer, sourceToken } = data
      return [type, title, perspective, sourceToken?.amount, sender ?? recipient, signer]
    })
  }
  test.each(feeds)('is in the feed of %s, with who signed', async (_, viewer, expected) => {
    expect(await feedOf(viewer)).toEqual(expected)
  })

  test('has the events of T10 and later decoded by their topics', async () => {
    const { body } = await api.get(`/v1/addresses/${who.issuer}/activities?limit=5&logs=true`)
    const shown: readonly RpcObject[] = body.data[0].events
    const later = laterLogs.map(({ event, log }) => ({ event, ...argsOf(event, log.topics, log.data), log }))
    expect(shown.slice(0, -1).map(({ eventName, args }) => [eventName, args])).toEqual(
      later.map(({ name, args }) => [name, args]),
    )
    for (const [index, { event, name, log }] of later.entries()) {
      const sql = `SELECT log_idx FROM ${name} WHERE address = '${log.address}'`
      expect([event, await sqlRows(sql, [event.slice('event '.length)])]).toEqual([event, [[`${index}`]]])
    }
  })

  test('is told by JSON-RPC as the node told it, nothing rounded', async () => {
    for (const { block, receipts: own } of chain) {
      expect((await rpc.call('eth_getBlockByNumber', block['number'], true)).result).toEqual(block)
      expect((await rpc.call('eth_getBlockByHash', block.hash, true)).result).toEqual(block)
      expect((await rpc.call('eth_getBlockReceipts', block['number'])).result).toEqual(own)
      for (const [index, tx] of (block.transactions as readonly RpcObject[]).entries()) {
        expect((await rpc.call('eth_getTransactionByHash', tx['hash'])).result).toEqual(tx)
        expect((await rpc.call('eth_getTransactionReceipt', tx['hash'])).result).toEqual(own[index])
      }
    }
    // A range would need a node that tells how far the chain goes.
    for (const { block } of chain) {
      const own = logsOf(chain).filter(({ blockHash }) => blockHash === block.hash)
      const asked = { blockHash: block.hash }
      expect((await rpc.call('eth_getLogs', asked)).result).toEqual(own)
      const burns = own.filter(({ topics }) => topics[0] === burnTopic)
      expect((await rpc.call('eth_getLogs', { ...asked, topics: [burnTopic] })).result).toEqual(burns)
    }
  })

  test('reaches webhooks by quantities of any size, and is told them whole', async () => {
    const large = txsOf(chain).filter(({ from, nonce }) => from === who.bob && BigInt(nonce) >= 2n ** 63n)
    const told = await receiver.until('/txs', ({ length }) => length >= large.length)
    expect(told.map(({ body }) => BigInt(/"nonce":(\d+),/.exec(body)?.[1] ?? 0))).toEqual(
      large.map(({ nonce }) => BigInt(nonce)),
    )
    expect(told.map(({ envelope }) => [envelope.data.hash, envelope.data.meta.rpc.nonce])).toEqual(
      large.map(({ hash, nonce }) => [hash, nonce]),
    )
    const burns = await receiver.until('/burns', ({ length }) => length >= 3)
    expect(burns.map(({ envelope }) => envelope.data.args)).toEqual([
      { burner: who.issuer, from: who.bob, amount: '30' },
      { burner: who.contract, from: who.bob, amount: '5' },
      { burner: who.issuer, from: who.bob, amount: '0' },
    ])
    const held = await receiver.until('/held', ({ length }) => length >= 5)
    expect(held.map(({ envelope: { data } }) => [data.args.blockedNonce, data.args.amount])).toEqual([
      ...[
        ['1', '10'],
        ['2', '7'],
        ['3', '4'],
        ['18446744073709551615', '6'],
        ['5', '1000'],
      ],
    ])
    expectConforming(receiver.received)
  })

  test('is the same after its rows and folds were made anew from the archive', async () => {
    const { store } = api
    await outdateAll(store)
    const again = async (raw: Parameters<typeof decode>[0]) => decode(raw, 'roots', profile)
    await rederiveRows({ ...store, decode: again, onProgress: () => {} }, new AbortController().signal)
    await settle()
    await api.fillClickHouse()
    await expectStored()
    await expectBalances()
    await expectPools(oracleOf(chain))
  })
})

/** Kinds of signatures, as the API names them; owners have no name. */
const toldNames = (signatures: readonly unknown[]) =>
  signatures.map((signature) =>
    typeof signature === 'string' ? undefined : (Object(signature).type ?? 'zk'),
  )

function oracleOf(chain: readonly TempoBlock[]): FeeRouteOracle {
  const oracle = new FeeRouteOracle()
  for (const block of chain) oracle.take(block)
  return oracle
}
