// Goal: followers in other processes on the same database are woken by a commit, those of another
// chain and of the telling process are not, and a lost connection is made again (17.3).
// Method: two that tell and listen, on one database, with bells that are waited for without end.
import { afterAll, expect, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { CommitNotices } from '#store/ledger/notices.ts'
import { openAppStore } from '../support/appStore.ts'

const { postgres } = await openAppStore()
const { clock } = systemRuntime()
const stop = new AbortController()
const process = (sender: string) => {
  const notices = new CommitNotices(postgres, sender)
  const bells = { one: new CommitBell(), two: new CommitBell() }
  notices.add('chain_1', bells.one)
  notices.add('chain_2', bells.two)
  return { notices, bells }
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
