// Goal: every real block of the shared folder arrives proved, from a list of receipts and from
// single ones.
// Method: the program in a process of its own begins at the block; its node answers with that block
// alone, as it was recorded.
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { decodeRaw } from '#transform/decode/decodeRange.ts'
import { type FakeNode, type NodeCall, startNode } from '../ingest/support/proxyNode.ts'
import {
  chainOf,
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  statusOf,
  until,
} from '../program/support/millrace.ts'
import { sharedFile } from './sharedFolder.ts'

const folder = ['fixtures', 'evm-rpc']

/** The id of each block's chain. */
const chainIds: Readonly<Record<string, number>> = {
  'ethereum/1000000': 1,
  'ethereum/18500000': 1,
  'optimism/154497277': 10,
}

test('each block of the folder is tried here', () => {
  const chains = readdirSync(sharedFile(...folder), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  )
  const found = chains.flatMap(({ name }) =>
    readdirSync(sharedFile(...folder, name)).map((height) => `${name}/${height}`),
  )
  expect(found.toSorted()).toEqual(Object.keys(chainIds).toSorted())
})

type Fields = Readonly<Record<string, unknown>>

interface Recorded {
  readonly height: number
  readonly block: Fields & { readonly transactions: readonly { readonly hash: string }[] }
  readonly receipts: readonly (Fields & { readonly logs: readonly object[] })[]
}

function recordedOf(place: string): Recorded {
  const read = (file: string) => JSON.parse(readFileSync(sharedFile(...folder, place, file), 'utf8'))
  const block: Recorded['block'] = read('block.json')
  return { height: Number(block['number']), block, receipts: read('receipts.json') }
}

/** By block 0 chains are told apart; nothing else is read of it. */
const genesis = {
  ...{ number: '0x0', hash: `0x${'11'.repeat(32)}`, parentHash: `0x${'00'.repeat(32)}` },
  ...{ timestamp: '0x0', transactions: [] },
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A node that has this block alone: as its newest, and as final. */
async function nodeOf(chainId: number, recorded: Recorded, hasLists: boolean): Promise<FakeNode> {
  const { height, block, receipts } = recorded
  const isIt = (tag: unknown) => tag === 'latest' || tag === 'finalized' || Number(tag) === height
  const short = { ...block, transactions: block.transactions.map(({ hash }) => hash) }
  const node = await startNode({
    call: ({ method, params: [asked, isWhole] }: NodeCall) => {
      if (method === 'eth_chainId') return { result: `0x${chainId.toString(16)}` }
      if (method === 'eth_getBlockByNumber' && Number(asked) === 0) return { result: genesis }
      if (method === 'eth_getBlockByNumber')
        return { result: isIt(asked) ? (isWhole === true ? block : short) : null }
      if (method === 'eth_getBlockReceipts' && hasLists) return { result: isIt(asked) ? receipts : null }
      if (method === 'eth_getTransactionReceipt')
        return { result: receipts.find((receipt) => receipt['transactionHash'] === asked) ?? null }
      return { error: { code: -32601, message: 'the method does not exist' } }
    },
  })
  ends.push(() => node.close())
  return node
}

async function ingest(chainId: number, recorded: Recorded): Promise<RunningMillrace> {
  const dataDir = freshDataDir(chainId)
  ends.push(() => dataDir.remove())
  const { url } = await nodeOf(chainId, recorded, true)
  const settings = { DATA_DIR: dataDir.path, RPC_URL: url, START_BLOCK: String(recorded.height) }
  const program = await startMillrace(settings)
  ends.push(() => program.stop())
  await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  return program
}

/** Blocks, transactions and logs. */
async function countsOf({ origin }: RunningMillrace, engine: string): Promise<readonly number[]> {
  const counts = ['blocks', 'txs', 'logs'].map((table) => `(SELECT count(*) FROM ${table})`)
  const sql = encodeURIComponent(`SELECT ${counts.join(', ')}`)
  const { body } = await get(`${origin}/v1/indexer/query?engine=${engine}&sql=${sql}`)
  return Object(body).rows?.[0]?.map(Number) ?? []
}

const countsIn = ({ block, receipts }: Recorded) => [
  1,
  block.transactions.length,
  receipts.flatMap((receipt) => receipt.logs).length,
]

describe.each(Object.entries(chainIds))('%s', (place, chainId) => {
  test('is stored whole in both engines, and proved', async () => {
    const recorded = recordedOf(place)
    const program = await ingest(chainId, recorded)
    const { coverage, verification } = await chainOf(program, chainId)
    expect(coverage).toEqual([{ from: recorded.height, to: recorded.height }])
    expect(verification).toMatchObject({
      ...{ checks: 'roots', headerRule: 'ethereum', unproved: [], provisional: [] },
      ...{ provedBlocks: 1, unprovableBlocks: 0, unprovableTxs: 0, foreignReceipts: 0 },
    })
    expect((await statusOf(program)).alarms).toEqual([])
    for (const engine of ['postgres', 'clickhouse']) {
      await until(async () => (await countsOf(program, engine))[0] === 1)
      expect(await countsOf(program, engine)).toEqual(countsIn(recorded))
    }
  })

  test('is proved from single receipts too', async () => {
    const recorded = recordedOf(place)
    const { url } = await nodeOf(chainId, recorded, false)
    const source = createSource({
      ...{ chainId, urls: [url], finalityDepth: 0, announcements: false },
      ...{ runtime: systemRuntime(), log: silentLogger },
    })
    ends.push(() => source.close())
    await source.head()
    const raw = await source.fetch({ from: recorded.height, to: recorded.height })
    const profile = { chainId, kind: 'evm', checks: 'roots', headerRule: 'ethereum' } as const
    const { proofs, tables } = decodeRaw(profile, raw).batch
    expect(proofs.provedBlocks).toBe(1)
    expect([1, tables.txs.rowCount, tables.logs.rowCount]).toEqual(countsIn(recorded))
  })
})
