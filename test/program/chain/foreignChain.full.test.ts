// Goal: a chain whose roots do not recompute, whose logs are numbered by transaction, and whose
// authorizations are written in a shape of their own is indexed, marked, and told (L34).
// Method: the program in a process of its own; its node is a server that answers with such blocks.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeNode, type NodeCall, startNode } from '../../ingest/support/proxyNode.ts'
import { type ForeignBlock, foreignChain, type Numbering } from '../../support/foreignChain.ts'
import {
  chainOf,
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  until,
} from '../support/millrace.ts'

const CHAIN_ID = 9_025
const HEAD = 30
const FINAL = 24
const BLOCK = 7

function nodeOf(blocks: readonly ForeignBlock[]) {
  const at = (tag: unknown) =>
    blocks[tag === 'latest' ? HEAD : tag === 'finalized' ? FINAL : Number(tag)] ?? null
  return ({ method, params: [tag] }: NodeCall) => {
    if (method === 'eth_chainId') return { result: `0x${CHAIN_ID.toString(16)}` }
    if (method === 'eth_getBlockByNumber') return { result: at(tag)?.block ?? null }
    if (method === 'eth_getBlockReceipts') return { result: at(tag)?.receipts ?? null }
    return { error: { code: -32601, message: 'the method does not exist' } }
  }
}

/** Told indexes of the logs of a block, and those they are stored under. */
const numbers: Readonly<Record<Numbering, { readonly told: number[]; readonly stored: number[] }>> = {
  restart: { told: [0, 1, 2, 0, 1], stored: [0, 1, 2, 3, 4] },
  skip: { told: [0, 1, 2, 5, 6], stored: [0, 1, 2, 5, 6] },
}

for (const numbering of ['restart', 'skip'] as const) {
  const dataDir = freshDataDir(CHAIN_ID)
  let node: FakeNode
  let program: RunningMillrace | undefined

  beforeAll(async () => {
    node = await startNode({ call: nodeOf(await foreignChain(HEAD + 1, numbering)) })
  })
  afterAll(async () => {
    await program?.stop()
    await node?.close()
    dataDir.remove()
  })

  test(`logs whose numbers ${numbering} are stored and told`, async () => {
    program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: node.url })
    const { origin } = program
    await until(async () => (await get(`${origin}/ready`)).status === 200)
    expect(await chainOf(program, CHAIN_ID)).toMatchObject({
      coverage: [{ from: 0, to: HEAD }],
      verification: {
        headerRule: 'unknown',
        unproved: ['transactionsRoot', 'receiptsRoot', 'logIndexes'],
        provedBlocks: 0,
      },
    })
    const { body } = await get(`${origin}/status`)
    expect(Object(body).notes.join()).toContain('do not prove their block hashes, transactions, receipts')
    const { told, stored } = numbers[numbering]
    expect(await logsOf(origin)).toEqual(told)
    const sql = `SELECT log_idx FROM logs WHERE block_num = ${BLOCK} ORDER BY log_idx`
    const rows = await get(
      `${origin}/v1/indexer/query?engine=postgres&chainId=${CHAIN_ID}&sql=${encodeURIComponent(sql)}`,
    )
    expect(Object(rows.body).rows.flat().map(Number)).toEqual(stored)
  })
}

/** As JSON-RPC has them: the node's own numbers, each with its own data. */
async function logsOf(origin: string): Promise<number[]> {
  const quantity = `0x${BLOCK.toString(16)}`
  const params = [{ fromBlock: quantity, toBlock: quantity }]
  const answer = await fetch(`${origin}/rpc/${CHAIN_ID}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params }),
  })
  const { result }: { result: { logIndex: string; data: string }[] } = JSON.parse(await answer.text())
  expect(result.map(({ data }) => Number(data))).toEqual([0, 1, 2, 3, 4])
  return result.map(({ logIndex }) => Number(logIndex))
}
