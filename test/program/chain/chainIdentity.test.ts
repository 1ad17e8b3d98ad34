// Goal: which chain it is, is told by what is held, else by two endpoints alike where two answer; an
// endpoint of another chain beside an honest one stops neither a start nor a lane (W11).
// Method: nodes of a few blocks over HTTP, the program's own way to its chains, and a ledger.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Hash, hash } from '#primitives.ts'
import { findChains, identifyChain, reachChain } from '#program/chains.ts'
import { defaultFinality } from '#program/settings/finalityField.ts'
import { postgresLeases } from '#rows/leases.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openChain } from '#store/ledger/ledger.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { FakeChain } from '../../ingest/support/fakeChain.ts'
import { headerOf } from '../../ingest/support/memoryNodes.ts'
import { type NodeCall, startNode } from '../../ingest/support/proxyNode.ts'
import { type FreshDatabase, freshDatabase } from '../../support/engines.ts'

const CHAIN_ID = 7
const runtime = systemRuntime()
/** Waits are a twentieth as long. */
const hurried = {
  ...runtime,
  clock: {
    ...runtime.clock,
    sleep: (ms: number, signal?: AbortSignal) => runtime.clock.sleep(ms / 20, signal),
  },
}

let access: FreshDatabase
let postgres: Postgres
beforeAll(async () => {
  access = await freshDatabase()
  postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  await migrateApp(postgres)
})
afterAll(async () => {
  await postgres.close()
  await access.drop()
})

type Answers = boolean | ((call: NodeCall) => boolean)

/** A node of the chain of this name; calls that it does not answer fail as a gateway's do. */
async function nodeOf(name: string, chainId = CHAIN_ID, answers: Answers = true) {
  const chain = new FakeChain(40, name)
  const blockAt = (at: unknown) =>
    at === 'latest' ? chain.head : at === 'finalized' ? chain.blocks[30] : chain.blocks[Number(at)]
  const node = await startNode({
    call: (call) => {
      const { method, params } = call
      if (typeof answers === 'function' && !answers(call))
        return { error: { code: -32014, message: `block not found with number ${params[0]}` } }
      if (method === 'eth_chainId') return { result: `0x${chainId.toString(16)}` }
      return { result: method === 'eth_getBlockReceipts' ? [] : headerOf(blockAt(params[0])) }
    },
    request: () => !answers,
  })
  onTestFinished(() => node.close())
  return { url: node.url, genesis: chain.blocks[0]?.hash ?? hash('0x') }
}

async function reach(
  rpcUrls: readonly string[],
  chainId: number | null = null,
  startBlock: number | null = null,
) {
  const config = {
    ...{ chainId, rpcUrls, relayUrls: [], rpcMethods: [], startBlock, finalityDepth: 8, contracts: [] },
    checks: 'links' as const,
    finality: defaultFinality,
  }
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) }
  const [found] = await findChains({ chains: [config] }, '', hurried, log)
  if (!found) throw new Error('no chain was found')
  const reached = await reachChain(found, postgres, hurried, log)
  onTestFinished(() => reached.source.close())
  return { ...reached, warnings }
}

async function hold(chainId: number, genesisHash: Hash): Promise<void> {
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
  await openChain(postgres, { chainId, genesisHash, headerRule: 'ethereum', startBlock: 0 }, 10, 1n)
}

test('at a first start two that tell the same are believed, though another one answered first', async () => {
  const [liar, one, other] = [await nodeOf('false'), await nodeOf('true'), await nodeOf('true')]
  const { genesisHash, source } = await reach([liar.url, one.url, other.url])
  expect(genesisHash).toBe(one.genesis)
  expect((await source.head()).head.number).toBe(39)
  expect(source.notes.join()).toContain(`${liar.genesis}, but this data belongs to ${one.genesis}`)
})

test.each([
  ['genesis', CHAIN_ID],
  ['chain id', 8],
])('at a first start two that tell another %s each end it by name', async (_, chainId) => {
  const [one, other] = [await nodeOf('true'), await nodeOf('false', chainId)]
  await expect(reach([one.url, other.url])).rejects.toMatchObject({
    code: 'setting_invalid',
    setting: 'RPC_URL',
  })
  await expect(reach([one.url, other.url])).rejects.toThrow(/genesis .* with genesis .*leave out the one/)
})

test('at a first start one is believed alone when the other is silent, and that is told', async () => {
  const [one, silent] = [await nodeOf('true'), await nodeOf('true', CHAIN_ID, false)]
  const { genesisHash, warnings } = await reach([one.url, silent.url])
  expect(genesisHash).toBe(one.genesis)
  expect(warnings.join()).toContain('alone tells which chain this is')
})

test.each([
  ['another genesis, asked first', 'false', 17, 17, true],
  ['another genesis, asked last', 'false', 18, 18, false],
  ['another chain id, asked first', 'false', 20, 19, true],
  ['another chain id, asked last', 'false', 20, 21, false],
] as const)(
  'a restart beside an endpoint of %s goes on with the honest one',
  async (_, name, told, held, first) => {
    const [wrong, honest] = [await nodeOf(name, told), await nodeOf('true', held)]
    await hold(held, honest.genesis)
    const urls = first ? [wrong.url, honest.url] : [honest.url, wrong.url]
    const { chainId, genesisHash, source } = await reach(urls)
    expect([chainId, genesisHash]).toEqual([held, honest.genesis])
    expect((await source.head()).head.number).toBe(39)
    expect((await source.fetch({ from: 5, to: 8 })).range.from).toBe(5)
    expect(source.notes.join()).toMatch(/has (chain id|genesis block) .* but this data belongs to/)
  },
)

test.each([
  ['START_BLOCK', null],
  ['CONFIG, startBlock of chain 22', 22],
] as const)('a start block above the head ends a first start, which names %s', async (setting, chainId) => {
  await migrateChain(postgres, 22, { leases: postgresLeases(postgres) })
  const { url } = await nodeOf('true', 22)
  const chain = await reach([url], chainId, 1_000)
  const identified = identifyChain(chain, postgres, hurried)
  await expect(identified).rejects.toMatchObject({ code: 'setting_invalid', setting })
  await expect(identified).rejects.toThrow('is 1000, but the newest block of chain 22 is 39')
})

test.each([
  [null, 0],
  [0, 0],
] as const)(
  'of a chain that is held from block 0 on, a start block %s begins at %i',
  async (asked, begins) => {
    const { url, genesis } = await nodeOf('true', 23)
    await hold(23, genesis)
    const { startBlock } = await identifyChain(await reach([url], null, asked), postgres, hurried)
    expect(startBlock).toBe(begins)
  },
)

test('a start block above the one that is held ends the start, and names both', async () => {
  const { url, genesis } = await nodeOf('true', 24)
  await hold(24, genesis)
  const identified = identifyChain(await reach([url], 24, 7), postgres, hurried)
  await expect(identified).rejects.toThrow(
    'CONFIG, startBlock of chain 24: is 7, but chain 24 is held from block 0 on',
  )
})

test('answers that are lost once each do not end a first start', async () => {
  await migrateChain(postgres, 25, { leases: postgresLeases(postgres) })
  const asked = new Set<string>()
  const isKnown = ({ method, params: [at] }: NodeCall) => {
    const key = `${method} ${at}`
    return asked.has(key) || !asked.add(key)
  }
  const { url, genesis } = await nodeOf('true', 25, isKnown)
  const { chainId, genesisHash } = await identifyChain(await reach([url]), postgres, hurried)
  expect([chainId, genesisHash]).toEqual([25, genesis])
})
