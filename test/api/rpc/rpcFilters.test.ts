// Goal: a filter tells each log once, and once more as removed where its block is replaced, whichever
// process answers. Method: two doors over one database, as two processes have, and a recorded chain
// that grows and is reorganized; the oracle folds what was told and compares it with the chain.

import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appDatabase } from '#rows/database.ts'
import { removeIdleFilters } from '#rows/rpcFilters.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { type FakeNode, startNode } from '../../ingest/support/proxyNode.ts'
import { decode } from '../../store/support/chainStore.ts'
import { loadRecordedChain, type RecordedChain } from '../../support/recordedChain.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { openRpcApi, plainNode, type RpcApi } from '../support/rpcApi.ts'
import { fold, keyOf, type Log, sorted } from './support/foldedLogs.ts'

let chain: ChainApi
let recorded: RecordedChain
let node: FakeNode
let doors: RpcApi[]
let states: ChainState[]
/** The node's head, if it is ahead of what is held. */
let nodeHead = 0
beforeAll(async () => {
  chain = await openChainApi()
  recorded = await loadRecordedChain('tempo-dev-2k', 60, 20)
  node = await startNode({
    call: plainNode(
      () => Math.max(nodeHead, chain.state.tip),
      ({ method }) => (method === 'eth_getLogs' ? { result: ['of the node'] } : undefined),
    ),
  })
  await chain.append(batches(0, 60))
  await chain.finalize(40)
  const { postgres, schema } = chain.store
  const other = new ChainState({
    chainId: chain.store.chainId,
    schema,
    startBlock: 0,
    postgres,
    bell: new CommitBell(),
  })
  states = [chain.state, other]
  doors = await Promise.all(
    states.map((state) =>
      openRpcApi({ urls: [node.url], stored: { state, postgres }, filters: appDatabase(postgres) }),
    ),
  )
  await refresh()
})
afterAll(async () => {
  await Promise.all(doors.map((door) => door.close()))
  await node.close()
  await chain.close()
})

const batches = (from: number, to: number): EncodedBatch[] =>
  Array.from({ length: to - from + 1 }, (_, k) =>
    decode(recorded.range({ from: from + k, to: from + k }), 'links'),
  )
const refresh = () => Promise.all(states.map((state) => state.refresh()))
const grow = async (from: number, to: number) => {
  await chain.append(batches(from, to))
  await refresh()
}
const back = async (to: number) => {
  await chain.revertTo(to)
  await refresh()
}
let turn = 0
const call = (method: string, ...params: readonly unknown[]) => {
  const door = doors[turn++ % doors.length]
  if (!door) throw new Error('no door')
  return door.call(method, ...params)
}
const logsOf = async (from: number, to: number, filter: object = {}): Promise<Log[]> =>
  (
    await call('eth_getLogs', {
      ...filter,
      fromBlock: `0x${from.toString(16)}`,
      toBlock: `0x${to.toString(16)}`,
    })
  ).result

describe('filters, asked of two processes,', () => {
  test('tell each log once over two processes, through reorganizations and blocks that come back', async () => {
    const token = { address: '0x20c0000000000000000000000000000000000000' }
    const all = (await call('eth_newFilter', {})).result
    const some = (await call('eth_newFilter', token)).result
    const blocks = (await call('eth_newBlockFilter')).result
    const seen = new Map<string, Log>()
    const seenSome = new Map<string, Log>()
    const poll = async () => {
      fold(seen, (await call('eth_getFilterChanges', all)).result)
      fold(seenSome, (await call('eth_getFilterChanges', some)).result)
    }
    await poll()
    expect(seen.size).toBe(0)
    await grow(61, 75)
    await poll()
    await poll()
    expect(sorted(seen.values())).toEqual(sorted(await logsOf(61, 75)))
    expect((await call('eth_getFilterChanges', blocks)).result).toHaveLength(15)

    // Blocks that go and come back are no news.
    await back(70)
    await grow(71, 76)
    fold(seen, (await call('eth_getFilterChanges', all)).result)
    expect(sorted(seen.values())).toEqual(sorted(await logsOf(61, 76)))

    recorded.advanceTo(76)
    recorded.reorg(12)
    await back(64)
    await grow(65, 80)
    await poll()
    expect(sorted(seen.values())).toEqual(sorted(await logsOf(61, 80)))
    expect(sorted(seenSome.values())).toEqual(sorted(await logsOf(61, 80, token)))
    expect((await call('eth_getFilterChanges', blocks)).result).toHaveLength(16)

    // Polled in between, below the place where the filter began.
    recorded.advanceTo(80)
    recorded.reorg(25)
    await back(55)
    await poll()
    await chain.finalize(50)
    await grow(56, 90)
    await poll()
    const told = [...seen.values()].filter(({ blockNumber }) => Number(blockNumber) > 60)
    expect(sorted(told)).toEqual(sorted(await logsOf(61, 90)))

    await chain.finalize(85)
    await refresh()
    await poll()
    await grow(91, 95)
    await poll()
    expect(sorted([...seen.values()].filter(({ blockNumber }) => Number(blockNumber) > 60))).toEqual(
      sorted(await logsOf(61, 95)),
    )
  })

  test('a process that knows less of the chain takes back nothing that the other told', async () => {
    const [fresh, late] = doors
    if (!fresh || !late) throw new Error('no doors')
    const { result: id } = await fresh.call('eth_newFilter', {})
    const { tip } = chain.state
    await chain.append(batches(tip + 1, tip + 4))
    await states[0]?.refresh()
    const told: Log[] = (await fresh.call('eth_getFilterChanges', id)).result
    expect(sorted(told)).toEqual(sorted(await logsOf(tip + 1, tip + 4)))
    expect((await late.call('eth_getFilterChanges', id)).result).toEqual([])
    await refresh()
    expect((await late.call('eth_getFilterChanges', id)).result).toEqual([])
  })
})

describe('filters that end:', () => {
  test('of pending transactions live at one node, answered by any process, and end with it', async () => {
    const waiting = [`0x${'01'.repeat(32)}`]
    const made: string[] = []
    const mempool = await startNode({
      call: (call) => {
        const [id] = call.params
        if (call.method === 'eth_newPendingTransactionFilter') return { result: `0x${made.push('pending')}` }
        if (call.method === 'eth_getFilterChanges')
          return id === '0x1'
            ? { result: waiting.splice(0) }
            : { error: { code: -32000, message: 'filter not found' } }
        if (call.method === 'eth_uninstallFilter') return { result: made.push('uninstalled') > 0 }
        return plainNode(() => chain.state.tip)(call)
      },
    })
    const { postgres } = chain.store
    const open = () =>
      openRpcApi({
        urls: [node.url, mempool.url],
        stored: { state: chain.state, postgres },
        filters: appDatabase(postgres),
      })
    const [one, other] = [await open(), await open()]
    const absent = { code: -32000, message: 'filter not found' }
    try {
      const { result: id } = await one.call('eth_newPendingTransactionFilter')
      expect(id).toMatch(/^0x[1-9a-f][0-9a-f]{31}$/)
      expect((await other.call('eth_getFilterChanges', id)).result).toEqual([`0x${'01'.repeat(32)}`])
      expect((await one.call('eth_getFilterChanges', id)).result).toEqual([])
      expect((await one.call('eth_getFilterLogs', id)).error).toEqual(absent)
      expect((await other.call('eth_uninstallFilter', id)).result).toBe(true)
      expect(made).toEqual(['pending', 'uninstalled'])
      expect((await one.call('eth_getFilterChanges', id)).error).toEqual(absent)
      const { result: second } = await one.call('eth_newPendingTransactionFilter')
      await mempool.close()
      for (const door of [one, other])
        expect((await door.call('eth_getFilterChanges', second)).error).toEqual(absent)
      expect((await one.call('eth_newPendingTransactionFilter')).error.code).toBe(-32601)
    } finally {
      await Promise.all([one.close(), other.close()])
      await mempool.close()
    }
  })

  test('that nobody polls for five minutes, and those that forgot what left the chain, are gone', async () => {
    const app = appDatabase(chain.store.postgres)
    const absent = { code: -32000, message: 'filter not found' }
    const change = (id: string, change: string) =>
      chain.store.postgres.pool.query(`UPDATE app.rpc_filters SET ${change} WHERE id = $1`, [id])
    const { result: idle } = await call('eth_newFilter', {})
    await change(idle, "polled_at = clock_timestamp() - interval '299 s'")
    expect((await call('eth_getFilterChanges', idle)).result).toEqual([])
    await change(idle, "polled_at = clock_timestamp() - interval '301 s'")
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
      expect((await call(method, idle)).error).toEqual(absent)

    const { tip } = chain.state
    const made = await Promise.all([call('eth_newFilter', {}), call('eth_newFilter', {})])
    const [deep, shallow] = made.map(({ result }) => String(result))
    await grow(tip + 1, tip + 6)
    const told: Log[] = (await call('eth_getFilterChanges', deep)).result
    expect((await call('eth_getFilterChanges', shallow)).result).toEqual(told)
    const rows = await app.selectFrom('app.rpc_filters').select(['id', 'told']).execute()
    for (const [id, floor] of [
      [deep, tip + 4],
      [shallow, tip + 2],
    ] as const) {
      const blocks = Array.from(Object(rows.find((row) => row.id === id)?.told)).filter(
        (block) => Object(block).number >= floor,
      )
      const [oldest, ...others] = blocks
      const kept = [{ ...Object(oldest), logs: [], isFloor: true }, ...others]
      await chain.store.postgres.pool.query('UPDATE app.rpc_filters SET told = $2 WHERE id = $1', [
        id,
        JSON.stringify(kept),
      ])
    }
    recorded.advanceTo(tip + 6)
    recorded.reorg(3)
    await back(tip + 3)
    await grow(tip + 4, tip + 6)
    expect((await call('eth_getFilterChanges', deep)).error).toEqual(absent)
    const seen = new Map(told.map((log) => [keyOf(log), log]))
    fold(seen, (await call('eth_getFilterChanges', shallow)).result)
    expect(sorted(seen.values())).toEqual(sorted(await logsOf(tip + 1, tip + 6)))
  })
})

describe('filters, while blocks come and are replaced,', () => {
  test('and lists wait for a block that comes in a moment, after which the node is asked', async () => {
    const { tip } = chain.state
    nodeHead = tip + 2
    const asked = logsOf(tip + 1, tip + 1)
    await grow(tip + 1, tip + 1)
    const coming = await asked
    expect(sorted(coming)).toEqual(sorted(await logsOf(tip + 1, tip + 1)))
    expect(coming).not.toEqual(['of the node'])
    expect(await logsOf(tip + 1, tip + 2)).toEqual(['of the node'])
    nodeHead = 0
  })

  test('and lists that are read while a block is replaced are of one branch', async () => {
    const { tip } = chain.state
    await grow(tip + 1, tip + 4)
    const texts = new Set<string>()
    const asked: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      const held = await logsOf(tip + 1, tip + 4)
      expect(held.length).toBeGreaterThan(0)
      texts.add(JSON.stringify(held))
      recorded.advanceTo(tip + 4)
      recorded.reorg(2)
      let isReplaced = false
      const replaced = back(tip + 2)
        .then(() => grow(tip + 3, tip + 4))
        .finally(() => {
          isReplaced = true
        })
      while (!isReplaced) asked.push(JSON.stringify(await logsOf(tip + 1, tip + 4)))
      await replaced
    }
    texts.add(JSON.stringify(await logsOf(tip + 1, tip + 4)))
    expect(texts.size).toBe(4)
    texts.add(JSON.stringify(['of the node']))
    expect(asked.filter((text) => !texts.has(text))).toEqual([])
  })

  test('two polls at once tell nothing twice', async () => {
    const { result: id } = await call('eth_newFilter', {})
    const { tip } = chain.state
    await grow(tip + 1, tip + 5)
    const told = await Promise.all(Array.from({ length: 6 }, () => call('eth_getFilterChanges', id)))
    const logs: Log[] = told.flatMap(({ result }) => result)
    expect(sorted(logs)).toEqual(sorted(await logsOf(tip + 1, tip + 5)))
  })
})

describe('filters of a caller', () => {
  test('are their caller’s alone, can be read whole, and end', async () => {
    const asked = { fromBlock: '0x10', toBlock: '0x20' }
    const { result: id } = await call('eth_newFilter', asked)
    expect(id).toMatch(/^0x[1-9a-f][0-9a-f]{31}$/)
    expect((await call('eth_getFilterLogs', id)).result).toEqual((await call('eth_getLogs', asked)).result)
    const absent = { code: -32000, message: 'filter not found' }
    const otherChain = await openRpcApi({
      urls: [node.url],
      stored: { state: chain.state, postgres: chain.store.postgres },
      filters: appDatabase(chain.store.postgres),
      caller: 'key_other',
    })
    expect((await otherChain.call('eth_getFilterChanges', id)).error).toEqual(absent)
    expect((await otherChain.call('eth_uninstallFilter', id)).result).toBe(false)
    await otherChain.close()
    expect((await call('eth_uninstallFilter', id)).result).toBe(true)
    expect((await call('eth_uninstallFilter', id)).result).toBe(false)
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
      for (const one of [id, '0x1', 5]) expect((await call(method, one)).error).toEqual(absent)
    expect((await call('eth_newFilter', { address: 'x' })).error.code).toBe(-32602)
  })

  test('are kept as they were read, and go by a timer when nobody polls them', async () => {
    const { postgres } = chain.store
    const { result: id } = await call('eth_newFilter', {
      ...{ address: `0x${'AB'.repeat(20)}`, fromBlock: '0x0', junk: 'x'.repeat(500_000) },
      topics: [null, `0x${'CD'.repeat(32)}`],
    })
    const kept = async () =>
      (await postgres.pool.query('SELECT asked FROM app.rpc_filters WHERE id = $1', [id])).rows
    expect(await kept()).toEqual([
      {
        asked: {
          ...{ address: [`0x${'ab'.repeat(20)}`], topics: [[], [`0x${'cd'.repeat(32)}`]], fromBlock: '0x0' },
        },
      },
    ])
    expect((await call('eth_getFilterLogs', id)).result).toEqual([])
    await postgres.pool.query(
      "UPDATE app.rpc_filters SET polled_at = clock_timestamp() - interval '301 s' WHERE id = $1",
      [id],
    )
    await removeIdleFilters(appDatabase(postgres))
    expect(await kept()).toEqual([])
  })

  test('that ask a slow node hold no connection, and one poll of each asks at a time', async () => {
    const { postgres } = chain.store
    const gate = Promise.withResolvers<void>()
    let atOnce = 0
    let most = 0
    const mempool = await startNode({
      call: async (asked) => {
        if (asked.method === 'eth_newPendingTransactionFilter') return { result: '0x1' }
        if (asked.method !== 'eth_getFilterChanges') return plainNode(() => chain.state.tip)(asked)
        most = Math.max(most, ++atOnce)
        await gate.promise
        atOnce--
        return { result: [] }
      },
    })
    const stored = { state: chain.state, postgres }
    const open = () =>
      openRpcApi({ urls: [mempool.url], stored, filters: appDatabase(postgres), caller: 'slow' })
    const [one, other] = [await open(), await open()]
    try {
      const { result: id } = await one.call('eth_newPendingTransactionFilter')
      const polls = Array.from({ length: 26 }, (_, i) =>
        (i % 2 ? one : other).call('eth_getFilterChanges', id),
      )
      while (atOnce === 0) await setTimeout(10)
      // Nothing of the polls is inside a transaction, and others' statements find a connection.
      const { rows } = await postgres.pool.query(
        "SELECT count(*)::int AS open FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND datname = current_database()",
      )
      expect(rows).toEqual([{ open: 0 }])
      gate.resolve()
      expect((await Promise.all(polls)).map(({ result }) => result)).toEqual(polls.map(() => []))
      expect(most).toBe(1)
    } finally {
      gate.resolve()
      await Promise.all([one.close(), other.close()])
      await mempool.close()
    }
  })

  test('are a hundred for a caller', async () => {
    const made = await Promise.all(Array.from({ length: 100 }, () => call('eth_newBlockFilter')))
    expect(made.filter(({ error }) => error?.code === -32005).length).toBeGreaterThan(0)
    expect((await call('eth_newBlockFilter')).error.code).toBe(-32005)
  })
})
