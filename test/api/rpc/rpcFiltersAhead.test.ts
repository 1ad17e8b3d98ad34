// Goal: a filter that is made before anything is held, or while ingest is behind, tells what comes
// after the block its client knew, once, whatever of history is missing.
// Method: a recorded chain whose head lane begins above blocks that nobody loads, and a node that is
// ahead of what is held.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BlockRef } from '#primitives.ts'
import { appDatabase } from '#rows/database.ts'
import { decode } from '../../store/support/chainStore.ts'
import { loadRecordedChain } from '../../support/recordedChain.ts'
import { openChainApi } from '../support/chainApi.ts'
import { door, node, plainNode } from '../support/rpcApi.ts'

interface Log {
  readonly blockHash: string
  readonly logIndex: string
}

describe('filters that begin before anything is held', () => {
  const headFrom = 41
  const nodeHead = 60

  /** A chain whose history is not indexed, and a node that is far ahead of what is held. */
  async function open() {
    const recorded = await loadRecordedChain('tempo-dev-2k', nodeHead, 20)
    const refs = Array.from({ length: nodeHead + 1 }, (_, number) => recorded.refAt(number))
    let head = nodeHead
    const chain = await openChainApi({ headFrom })
    onTestFinished(() => chain.close())
    const far = await node({
      call: plainNode(
        () => head,
        ({ method, params: [number] }) =>
          method === 'eth_getBlockByNumber'
            ? { result: told(refs.at(number === 'latest' ? head : Number(number))) }
            : undefined,
      ),
    })
    const { postgres } = chain.store
    const stored = { state: chain.state, postgres }
    const { call } = await door({ urls: [far.url], stored, filters: appDatabase(postgres) })
    const grow = (from: number, to: number) => {
      head = Math.max(head, to)
      refs.push(...Array.from({ length: head + 1 - refs.length }, (_, k) => recorded.refAt(refs.length + k)))
      return chain.append([decode(recorded.range({ from, to }), 'links')])
    }
    return { recorded, call, grow }
  }
  const told = (ref: BlockRef | undefined) => ref && { ...ref, number: `0x${ref.number.toString(16)}` }
  const placesOf = (logs: readonly Log[]) => logs.map((log) => `${log.blockHash} ${Number(log.logIndex)}`)

  test('tell what comes after the block that their clients knew, whatever of history is missing', async () => {
    const { call, grow } = await open()
    const { result: id } = await call('eth_newFilter', {})
    const { result: blocks } = await call('eth_newBlockFilter')
    const changes = async (filter: string) => (await call('eth_getFilterChanges', filter)).result
    await grow(headFrom, 55)
    expect([await changes(id), await changes(blocks)]).toEqual([[], []])
    await grow(56, nodeHead)
    expect([await changes(id), await changes(blocks)]).toEqual([[], []])
    await grow(nodeHead + 1, nodeHead + 5)
    const { result: logs } = await call('eth_getLogs', {
      fromBlock: `0x${(nodeHead + 1).toString(16)}`,
      toBlock: `0x${(nodeHead + 5).toString(16)}`,
    })
    expect(logs.length).toBeGreaterThan(0)
    expect(placesOf(await changes(id))).toEqual(placesOf(logs))
    expect(await changes(blocks)).toHaveLength(5)
    expect([await changes(id), await changes(blocks)]).toEqual([[], []])
  })

  test('end where another block comes in the place of that one', async () => {
    const { recorded, call, grow } = await open()
    const { result: id } = await call('eth_newFilter', {})
    recorded.reorg(3)
    await grow(headFrom, nodeHead - 4)
    expect((await call('eth_getFilterChanges', id)).result).toEqual([])
    await grow(nodeHead - 3, nodeHead + 5)
    expect((await call('eth_getFilterChanges', id)).error).toEqual({
      code: -32000,
      message: 'filter not found',
    })
  })
})
