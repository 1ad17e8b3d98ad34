import { expect, test } from 'vitest'
import { stalledAlarms } from './stalledAlarms.ts'

test('streams of webhooks that stand still raise one alarm that names them', () => {
  const moving = { stream: 'transfers', problem: null }
  expect(stalledAlarms(4217, [moving])).toEqual([])
  const standing = ['blocks', 'fills'].map((stream) => ({ stream, problem: 'why' }))
  expect(stalledAlarms(4217, [moving, ...standing])).toEqual([
    { chainId: 4217, code: 'webhooks_stalled', problem: 'blocks: why; fills: why' },
  ])
})
