// Goal: a kill at any instruction loses and doubles nothing, in either store; what comes next
// repairs it by itself.
// Method: a process indexes the recorded chain and kills itself at a named place; the next one goes
// on with more blocks to do and another place to die. At the end both stores are compared with the
// encoder, block by block. Budget: 50 s on two idle cores, nearly all of it starting processes.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { freshDatabase } from '../support/engines.ts'
import { expectIndexed } from './support/expectChain.ts'
import { index, type Task } from './support/task.ts'

/** The chain's change since the last process died. */
type Change = 'none' | 'growth' | 'reorg' | 'downtime'

/** In the order in which a chain meets them; the places of crash.test.ts are not repeated. */
const kills: readonly (readonly [failpoint: string, change: Change])[] = [
  ['lease.acquired', 'none'],
  ['history.append.before:2', 'none'],
  ['history.attach.after', 'none'],
  ['head.fetched', 'growth'],
  ['head.decoded', 'growth'],
  ['head.append.before', 'growth'],
  ['head.append.after', 'growth'],
  ['head.finalize.before', 'growth'],
  ['head.finalize.after', 'growth'],
  ['head.forkFound', 'reorg'],
  ['postgres.revert.commit', 'none'],
  ['head.seal.before', 'downtime'],
  ['postgres.seal.commit', 'none'],
  ['head.seal.after', 'none'],
  ['postgres.chunk.move', 'none'],
  ['postgres.chunk.moved', 'none'],
  ['lease.renewed', 'growth'],
]

function taskAfter(task: Task, change: Change): Task {
  switch (change) {
    case 'none':
      return task
    case 'growth':
      return { ...task, head: task.head + 6 }
    case 'reorg':
      return { ...task, head: task.head + 2, reorgs: [...task.reorgs, { head: task.head, depth: 6 }] }
    case 'downtime':
      return { ...task, head: task.head + 60 }
  }
}

describe('a process that is killed', () => {
  let task: Task
  beforeAll(async () => {
    const { drop: _, ...access } = await freshDatabase()
    task = {
      access,
      recording: 'tempo-dev-2k',
      head: 40,
      finality: 10,
      reorgs: [],
      checks: 'links',
      batchBlocks: 5,
      limits: { leaseMs: 1_500, sealGapBlocks: 30 },
    }
  })

  test.each(kills)('at %s after %s, and the next goes on', async (failpoint, change) => {
    // Blocks that are replaced or left behind must have been reached first.
    if (change === 'reorg' || change === 'downtime') expect(await index(task)).toMatchObject({ code: 0 })
    task = taskAfter(task, change)
    const end = await index({ ...task, failpoint })
    expect(end, end.output).toMatchObject({ killed: true })
  })

  test('while it replaces a damaged batch, and the next does not meet its old tokens', async () => {
    task = taskAfter(task, 'growth')
    expect(await index({ ...task, failpoint: 'clickhouse.readback' })).toMatchObject({ killed: true })
    const { access } = task
    const clickhouse = openClickHouse({
      url: access.clickhouseUrl,
      username: access.clickhouseUsername,
      password: access.clickhousePassword,
    })
    onTestFinished(() => clickhouse.close())
    const logs = `${databaseOf(access.chainId)}.logs`
    await clickhouse.command({
      query: `INSERT INTO ${logs} SELECT * FROM ${logs} ORDER BY block_num DESC LIMIT 1`,
      clickhouse_settings: { insert_deduplicate: 0 },
    })
    const end = await index({ ...task, failpoint: 'clickhouse.deleted' })
    expect(end, end.output).toMatchObject({ killed: true })
  })

  test('leaves both stores as if nothing had happened', async () => {
    const end = await index(task)
    expect(end, end.output).toMatchObject({ killed: false, code: 0 })
    await expectIndexed(task)
  })
})
