import { expect, test } from 'vitest'
import type { Purchased } from '#wallet/buyer.ts'
import { JobProgress } from './JobProgress.ts'

const paused: Purchased = { kind: 'refused', code: 'wallet_paused', message: 'It is paused.' }
const away: Purchased = { kind: 'refused', code: 'unreachable', message: 'It is away.' }

test('waiting for the wallet uses up no attempt of a node', () => {
  const node = { nodeId: 'a', serviceId: 's', sellerKey: 'k', state: 'pending', unitsMax: 1n } as const
  const progress = new JobProgress(
    {
      ...{ plan: '', state: 'queued', isCancelling: false, deadlineMs: 1e9, outputBytes: 0 },
      nodes: [{ ...node, attempt: 0, polls: 0, pollPath: null, dueMs: null, deadlineMs: null }],
    },
    () => [],
    () => 0.5,
  )
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
