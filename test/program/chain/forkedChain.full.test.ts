// Goal: a chain that changes its rules while the program runs goes on by itself: what its blocks no
// longer prove is learned again, told, and kept over a restart (L34).
// Method: the program in a process of its own; its two nodes are servers whose chain forks after the
// program has caught up.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeNode, type NodeCall, startNode } from '../../ingest/support/proxyNode.ts'
import type { ForeignBlock } from '../../support/foreignChain.ts'
import { forkingChain } from '../../support/forkingChain.ts'
import {
  chainOf,
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  until,
} from '../support/millrace.ts'

const CHAIN_ID = 9_026
const HEAD = 30
const FORK = 33
const LATER = 40
const FINAL_BELOW = 6

/** Nodes of one chain, whose head moves when told. */
function nodeOf(blocks: readonly ForeignBlock[], head: () => number) {
  const at = (tag: unknown) => {
    const number = tag === 'latest' ? head() : tag === 'finalized' ? head() - FINAL_BELOW : Number(tag)
    return number <= head() ? (blocks[number] ?? null) : null
  }
  return ({ method, params: [tag] }: NodeCall) => {
    if (method === 'eth_chainId') return { result: `0x${CHAIN_ID.toString(16)}` }
    if (method === 'eth_getBlockByNumber') return { result: at(tag)?.block ?? null }
    if (method === 'eth_getBlockReceipts') return { result: at(tag)?.receipts ?? null }
    return { error: { code: -32601, message: 'the method does not exist' } }
  }
}

const dataDir = freshDataDir(CHAIN_ID)
const nodes: FakeNode[] = []
let head = HEAD
let program: RunningMillrace | undefined
const start = () => startMillrace({ DATA_DIR: dataDir.path, RPC_URL: nodes.map(({ url }) => url).join(',') })

beforeAll(async () => {
  const blocks = await forkingChain(LATER + 1, FORK, 'header')
  for (let nth = 0; nth < 2; nth++) nodes.push(await startNode({ call: nodeOf(blocks, () => head) }))
})
afterAll(async () => {
  await program?.stop()
  await Promise.all(nodes.map((node) => node.close()))
  dataDir.remove()
})

test('a chain whose headers begin to hash in a way of their own is followed past that', async () => {
  const first = await start()
  program = first
  const { origin } = first
  await until(async () => (await get(`${origin}/ready`)).status === 200)
  expect(await chainOf(first, CHAIN_ID)).toMatchObject({
    coverage: [{ from: 0, to: HEAD }],
    verification: { headerRule: 'ethereum', unproved: [] },
  })
  head = LATER
  await until(async () => (await chainOf(first, CHAIN_ID)).stores.postgres.tip === LATER)
  const learned = { headerRule: 'ethereum', unproved: ['header'] }
  expect(await chainOf(first, CHAIN_ID)).toMatchObject({ verification: learned })
  const { body } = await get(`${origin}/status`)
  expect(Object(body).notes.join()).toContain('blocks of this chain do not prove their block hashes')
  const { stdout, stderr } = await first.stop()
  expect((stdout + stderr).split('the chain changed its rules')).toHaveLength(2)
  program = await start()
  expect(await chainOf(program, CHAIN_ID)).toMatchObject({ verification: learned })
})
