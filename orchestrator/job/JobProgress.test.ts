import { expect, test } from 'vitest'
import type { Purchased } from '#wallet/buyer.ts'
import { JobProgress } from './JobProgress.ts'

const paused: Purchased = { kind: 'refused', code: 'wallet_paused', message: 'It is paused.' }
const away: Purchased = { kind: 'refused', code: 'unreachable', message: 'It is away.' }

/** A job of calls, each of which waits for the one before. */
function progressOf(...nodeIds: readonly string[]): JobProgress {
  const node = { serviceId: 's', sellerKey: 'k', state: 'pending', unitsMax: 1n } as const
  const unbegun = { attempt: 0, polls: 0, pollPath: null, dueMs: null, deadlineMs: null }
  return new JobProgress(
    {
      ...{ plan: '', state: 'queued', isCancelling: false, deadlineMs: 1e9, outputBytes: 0 },
      nodes: nodeIds.map((nodeId) => ({ ...node, ...unbegun, nodeId })),
    },
    (nodeId) => nodeIds.slice(0, nodeIds.indexOf(nodeId)).slice(-1),
    () => 0.5,
  )
}

test('waiting for the wallet uses up no attempt of a node', () => {
  const progress = progressOf('a')
  let nowMs = 0
  const call = (purchased: Purchased) => {
    nowMs += 31_000
    const { calls } = progress.turn(nowMs, new Set(), 0)
    const { attempt } = progress.node('a')
    progress.take({ nodeId: 'a', kind: 'bought', purchased, completion: null, isRepeatable: false }, nowMs)
    return [...calls, attempt, progress.node('a').state]
  }
  for (let turn = 0; turn < 10; turn++) expect(call(paused)).toEqual(['a', 1, 'pending'])
  for (let attempt = 1; attempt < 5; attempt++) {
    expect(call(away)).toEqual(['a', attempt, 'pending'])
    expect(call(paused)).toEqual(['a', attempt + 1, 'pending'])
  }
  expect(call(away)).toEqual(['a', 5, 'failed'])
})

test('a call that the wallet refuses because its job was cancelled is cancelled, as all that follows is', () => {
  const progress = progressOf('a', 'b')
  progress.turn(0, new Set(), 0)
  const purchased: Purchased = { kind: 'refused', code: 'job_cancelled', message: 'The job was cancelled.' }
  progress.take({ nodeId: 'a', kind: 'bought', purchased, completion: null, isRepeatable: false }, 1)
  const { step } = progress.turn(2, new Set(), 0)
  const cancelled = { state: 'cancelled', errorCode: 'job_cancelled' }
  expect(step?.nodes).toMatchObject([cancelled, cancelled])
  expect(step?.events).toContainEqual({ type: 'job', data: { state: 'cancelled' } })
})
