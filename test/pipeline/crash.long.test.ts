// Goal: as crash.test.ts and kill.test.ts, at the third occurrence of every place too, and two hundred times at random.
// Method: the same processes; after every tenth kill the task is brought to its end and both stores are compared.
import { expect, test, vi } from 'vitest'
import { ingestFailpoints } from '#ingest/failpoints.ts'
import { seededRandom } from '../ingest/support/random.ts'
import { freshDatabase } from '../support/engines.ts'
import { describeWithShared } from '../support/shared.ts'
import { expectIndexed } from './support/expectChain.ts'
import { index, startIndexing, type Task } from './support/task.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const storeFailpoints = [
  'postgres.append.rows',
  'postgres.append.commit',
  'postgres.append.done',
  'postgres.revert.rows',
  'postgres.revert.commit',
  'postgres.chunk.rows',
  'postgres.chunk.commit',
  'postgres.chunk.attach',
  'postgres.chunk.attached',
  'clickhouse.journal',
  'clickhouse.inserted',
  'clickhouse.readback',
  'clickhouse.written',
]
const occurrences = [1, 2, 3]
const KILLS = 200
/** All of a chain is compared each time it is brought to its end; a longer one shows nothing new and takes most of the hour. */
const HEAD_MAX = 500
const LIFE_MS_MAX = 2_000

async function openTask(): Promise<Task> {
  const { drop: _, ...access } = await freshDatabase()
  return {
    access,
    recording: 'tempo-dev-2k',
    head: 70,
    finality: 25,
    reorgs: [],
    checks: 'links',
    batchBlocks: 2,
    limits: { leaseMs: 3_000, sealGapBlocks: 40 },
  }
}

/** The chain a while later, or, when it is long enough, another one in empty stores. */
const next = async (task: Task, round: number): Promise<Task> =>
  task.head > HEAD_MAX ? openTask() : later(task, round)

/** The chain a while later: longer, every third time reorganized, every fifth time far ahead. */
function later(task: Task, round: number): Task {
  const reorgs =
    round % 3 === 0 ? [...task.reorgs, { head: task.head, depth: 1 + (round % 20) }] : task.reorgs
  return { ...task, reorgs, head: task.head + (round % 5 === 0 ? 70 : 7) }
}

async function finish(task: Task): Promise<void> {
  const end = await index(task)
  expect(end, end.output).toMatchObject({ code: 0 })
  await expectIndexed(task)
}

describeWithShared('many kills', () => {
  test('at every named place, at its first, second and third visit', async () => {
    let task = await openTask()
    let round = 0
    const reached = new Set<string>()
    for (const failpoint of [...ingestFailpoints, ...storeFailpoints])
      for (const nth of occurrences) {
        const end = await index({ ...task, failpoint: `${failpoint}:${nth}` })
        if (end.killed) reached.add(failpoint)
        else expect(end, end.output).toMatchObject({ code: 0 })
        await finish(task)
        task = await next(task, ++round)
      }
    // A place that is visited less often than asked in one life is not reached by every number.
    expect([...ingestFailpoints, ...storeFailpoints].filter((failpoint) => !reached.has(failpoint))).toEqual(
      [],
    )
  })

  test('two hundred at random moments', async () => {
    const random = seededRandom(11)
    let task = await openTask()
    for (let kill = 1; kill <= KILLS; kill++) {
      const indexing = startIndexing(task)
      await indexing.started
      const timer = setTimeout(() => indexing.child.kill('SIGKILL'), random() * LIFE_MS_MAX)
      const end = await indexing.ended
      clearTimeout(timer)
      if (!end.killed) expect(end, end.output).toMatchObject({ code: 0 })
      if (kill % 10 > 0) continue
      await finish(task)
      task = await next(task, kill / 10)
    }
    await finish(task)
  })
})
