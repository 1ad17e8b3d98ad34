// Goal: who waits in other processes on the same database is woken by a commit, and by one of a
// follower; those of another chain and of the telling process are not, and a lost connection is made
// again (17.3).
// Method: two that tell and listen, on one database, with bells that are waited for without end.
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { openFollowers } from '#store/follow/followers.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { CommitNotices } from '#store/ledger/CommitNotices.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { ReadDemand } from '#store/ReadDemand.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../../support/appStore.ts'
import { openChainStore, recordedBatches } from '../support/chainStore.ts'
import { silentCalls } from '../support/followers.ts'

const { postgres } = await openAppStore()
const { clock } = systemRuntime()
const stop = new AbortController()
const process = (sender: string) => {
  const notices = new CommitNotices(postgres, sender)
  const chain = (schema: string) => ({
    schema,
    bell: new CommitBell(),
    followed: new CommitBell(),
    demand: new ReadDemand(),
  })
  const [one, two] = [chain('chain_1'), chain('chain_2')]
  for (const each of [one, two]) notices.add(each)
  return {
    notices,
    bells: { one: one.bell, two: two.bell, followed: one.followed },
    demands: { one: one.demand, two: two.demand },
  }
}
const [writer, other] = [process('writer'), process('other')]
const waitMs = 3_600_000

/** Rings that were heard. */
const countOf = (bell: CommitBell) => {
  const heard = { rings: 0 }
  const listening = async () => {
    while (!stop.signal.aborted) {
      await bell.wait(clock, waitMs, stop.signal)
      heard.rings++
    }
  }
  void listening()
  return heard
}

let listening: Promise<void>[] = []
afterAll(async () => {
  stop.abort()
  await Promise.all(listening)
})

const untilRung = (bell: CommitBell) => bell.wait(clock, waitMs, stop.signal)

test('the other process is woken, for this chain alone, also after its connection was lost', async () => {
  const begun = [writer, other].map(({ bells }) => untilRung(bells.one))
  listening = [writer, other].map(({ notices }) => notices.run(clock, stop.signal))
  await Promise.all(begun)
  const [own, otherChain] = [countOf(writer.bells.one), countOf(other.bells.two)]
  const woken = untilRung(other.bells.one)
  writer.notices.tell('chain_1')
  await woken
  expect([own.rings, otherChain.rings]).toEqual([0, 0])

  // Listening begins again, and with it what may have been missed is looked for.
  const again = [writer, other].map(({ bells }) => untilRung(bells.one))
  await postgres.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN %'`,
  )
  await Promise.all(again)
  const wokenAgain = untilRung(other.bells.one)
  writer.notices.tell('chain_1')
  await wokenAgain
})

test('the writer learns that another process reads this chain, and nobody is woken', async () => {
  const rung = countOf(writer.bells.one)
  for (const demand of [writer.demands.one, writer.demands.two, other.demands.one]) demand.take()
  other.notices.tellRead('chain_1')
  await expect.poll(() => writer.demands.one.take()).toBe(true)
  expect([writer.demands.two.take(), other.demands.one.take(), rung.rings]).toEqual([false, false, 0])
})

test('a commit of a follower wakes who waits for followers, and nobody else', async () => {
  const commits = countOf(other.bells.one)
  const woken = untilRung(other.bells.followed)
  writer.notices.tellFollowed('chain_1')
  await woken
  expect(commits.rings).toBe(0)
})

test('a follower that has taken blocks in rings in its own process and in others', async () => {
  const store = await openChainStore({ headFrom: 0, checks: 'links' })
  const { chainId, schema, fence } = store
  for (const batch of recordedBatches('tempo-dev-2k', 1).slice(0, 3)) await store.head.append(batch)
  const [here, there] = ['here', 'there'].map((name) => ({
    notices: new CommitNotices(store.postgres, name),
    state: new ChainState({
      ...{ chainId, schema, startBlock: 0, postgres: store.postgres },
      bell: new CommitBell(),
    }),
  }))
  if (!here || !there) throw new Error('two processes')
  const ending = new AbortController()
  there.notices.add(there.state)
  const begun = untilRung(there.state.followed)
  const hearing = there.notices.run(clock, ending.signal)
  await begun
  const commits = countOf(there.state.bell)
  const woken = [here, there].map(({ state }) => untilRung(state.followed))
  const driver = openFollowers({
    ...{ kind: 'evm', callContracts: silentCalls, state: here.state, notices: here.notices },
    ...{ postgres: store.postgres, fence, runtime: systemRuntime(), log: silentLogger },
  })
  const moving = driver.run(ending.signal)
  onTestFinished(async () => {
    ending.abort()
    await Promise.all([hearing, moving])
    await store.close()
  })
  await Promise.all(woken)
  expect(commits.rings).toBe(0)
})
