// Goal: at the very first start a liar that answers alone, of two endpoints, teaches rules under which
// less is proved: they are told as one endpoint's word and raise an alarm, and are learned again when
// the other one answers; the chain ends as with honest endpoints alone (L40).
// Method: the program in a process of its own; of its two nodes one tells false receipts and the
// other one answers later.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

const HEAD = 30
const FINAL = 24

const truth = (told: ForeignBlock): ForeignBlock => told
const falseStatus = ({ block, receipts }: ForeignBlock): ForeignBlock => ({
  block,
  receipts: receipts.map((receipt) => ({ ...receipt, status: '0x0' })),
})

const falseHeader = ({ block, receipts }: ForeignBlock): ForeignBlock => ({
  block: { ...block, stateRoot: `0x${'12'.repeat(32)}` },
  receipts,
})

function callsOf(chainId: number, blocks: readonly ForeignBlock[], tell: typeof truth) {
  const at = (tag: unknown) => {
    const block = blocks[tag === 'latest' ? HEAD : tag === 'finalized' ? FINAL : Number(tag)]
    return block ? tell(block) : null
  }
  return ({ method, params: [tag] }: NodeCall) => {
    if (method === 'eth_chainId') return { result: `0x${chainId.toString(16)}` }
    if (method === 'eth_getBlockByNumber') return { result: at(tag)?.block ?? null }
    if (method === 'eth_getBlockReceipts') return { result: at(tag)?.receipts ?? null }
    return { error: { code: -32601, message: 'the method does not exist' } }
  }
}

type Calls = NodeCall | readonly NodeCall[]

/** Lies of the one endpoint, what the other one is silent about at first, and what the lies teach. */
const teachings = [
  {
    title: 'receipts, while the other one tells its head alone',
    ...{ chainId: 9_027, lie: falseStatus },
    isSilent: (calls: Calls) => [calls].flat().some(({ params }) => params[1] === true),
    taught: { headerRule: 'ethereum', unproved: ['receiptsRoot'], provisional: ['receiptsRoot'] },
  },
  {
    title: 'headers, while the other one is away',
    ...{ chainId: 9_028, lie: falseHeader },
    isSilent: () => true,
    taught: { headerRule: 'unknown', unproved: [], provisional: ['header'] },
  },
]

describe.each(teachings)('a liar that taught $title', ({ chainId, lie, isSilent, taught }) => {
  const dataDir = freshDataDir(chainId)
  let nodes: readonly FakeNode[] = []
  let isHonestUp = false
  let program: RunningMillrace | undefined

  beforeAll(async () => {
    const blocks = await forkingChain(HEAD + 1, HEAD + 1, 'header')
    const silence = (calls: Calls, response: { destroy(): void }) => {
      if (isHonestUp || !isSilent(calls)) return false
      response.destroy()
      return true
    }
    nodes = [
      await startNode({ call: callsOf(chainId, blocks, lie) }),
      await startNode({ call: callsOf(chainId, blocks, truth), request: silence }),
    ]
  })
  afterAll(async () => {
    await program?.stop()
    await Promise.all(nodes.map((node) => node.close()))
    dataDir.remove()
  })

  test('is told to be alone, and contradicted when the honest endpoint answers', async () => {
    const urls = nodes.map(({ url }) => url).join(',')
    const running = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: urls })
    program = running
    const told = await chainOf(running, chainId)
    expect(told.verification).toMatchObject(taught)
    const { notes, alarms } = Object((await get(`${running.origin}/status`)).body)
    expect(notes.join()).toContain('one endpoint alone')
    expect(JSON.stringify(alarms)).toMatch(/unprovable|header_rule_unknown|lane_waiting/)
    isHonestUp = true
    await until(async () => (await chainOf(running, chainId)).verification.provisional.length === 0)
    await until(async () => (await get(`${running.origin}/ready`)).status === 200)
    const { coverage, verification } = await chainOf(running, chainId)
    expect(coverage).toEqual([{ from: 0, to: HEAD }])
    expect(verification).toMatchObject({ headerRule: 'ethereum', unproved: [] })
    const sql = 'SELECT count(*) AS failed FROM receipts WHERE status <> 1'
    const path = `/v1/indexer/query?engine=postgres&chainId=${chainId}&sql=${encodeURIComponent(sql)}`
    expect(
      Object((await get(running.origin + path)).body)
        .rows.flat()
        .map(Number),
    ).toEqual([0])
    const { stdout, stderr } = await running.stop()
    expect((stdout + stderr).split('a second endpoint contradicts')).toHaveLength(2)
    const next = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: urls })
    program = next
    await until(async () => (await chainOf(next, chainId)).verification.provedBlocks === HEAD + 1)
    expect((await chainOf(next, chainId)).verification).toMatchObject({
      ...{ headerRule: 'ethereum', unproved: [], provisional: [], unprovableBlocks: 0 },
    })
  })
})
