// Goal: as crash.test.ts, at the third occurrence of every place too, and two hundred times at
// random.
// Method: the same processes; after every tenth kill the task is brought to its end and both stores
// are compared.
import { describe, expect, test, vi } from 'vitest'
import { ingestFailpoints } from '#runtime/failpoints.ts'
import { seededRandom } from '../ingest/support/random.ts'
import { freshDatabase } from '../support/engines.ts'
import { expectIndexed } from './support/expectChain.ts'
import { index, startIndexing, type Task } from './support/task.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const storeFailpoints = [
  'postgres.append.rows',
  'postgres.append.commit',
  'postgres.append.done',
  'postgres.revert.rows',
  'postgres.revert.commit',
  'postgres.seal.commit',
  'postgres.chunk.rows',
  'postgres.chunk.commit',
  'postgres.chunk.attach',
  'postgres.chunk.attached',
  'postgres.chunk.move',
  'postgres.chunk.moved',
  'clickhouse.journal',
  'clickhouse.inserted',
  'clickhouse.readback',
  'clickhouse.written',
]
const occurrences = [1, 2, 3]
const KILLS = 200
/**
 * All of a chain is compared each time it is brought to its end; a longer one shows nothing new and
 * takes most of the hour.
 */
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

/**
 * The state that a life finds: it seals, and moves history into the gap; or it takes blocks back at the
 * head; or it has everything to do, and attaches history.
 */
const states: readonly ((task: Task, round: number) => Task | Promise<Task>)[] = [
  (task: Task): Task => ({ ...task, head: task.head + 70 }),
  (task: Task, round: number): Task => ({ ...reorganized(task, 1 + (round % 20)), head: task.head + 7 }),
  openTask,
]

/** The chain, or when it is long enough another one in empty stores, indexed to its end. */
async function indexedTask(task?: Task): Promise<Task> {
  if (task && task.head <= HEAD_MAX) return task
  const begun = await openTask()
  await finish(begun)
  return begun
}

/** Longer, every third time reorganized, every fifth time far ahead. */
function later(task: Task, round: number): Task {
  const before = round % 3 === 0 ? reorganized(task, 1 + (round % 20)) : task
  return { ...before, head: task.head + (round % 5 === 0 ? 70 : 7) }
}

const reorganized = (task: Task, depth: number): Task => ({
  ...task,
  reorgs: [...task.reorgs, { head: task.head, depth }],
})

async function finish(task: Task): Promise<void> {
  const end = await index(task)
  expect(end, end.output).toMatchObject({ code: 0 })
  await expectIndexed(task)
}

describe('many kills', () => {
  test('at every named place, at its first, second and third visit', async () => {
    const reached = new Set<string>()
    let task: Task | undefined
    let round = 0
    for (const failpoint of [...ingestFailpoints, ...storeFailpoints])
      for (const nth of occurrences)
        for (const grown of states) {
          task = await grown(await indexedTask(task), ++round)
          const end = await index({ ...task, failpoint: `${failpoint}:${nth}` })
          if (end.killed) reached.add(failpoint)
          else expect(end, end.output).toMatchObject({ code: 0 })
          await finish(task)
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
      task = task.head > HEAD_MAX ? await openTask() : later(task, kill / 10)
    }
    await finish(task)
  })
})
