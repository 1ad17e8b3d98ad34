import { expect, test } from 'vitest'
import { type ReadyChain, readinessOf } from './readiness.ts'

const running = { state: 'running', problem: null }

const chain = (told: Partial<ReadyChain> = {}, chainId = 1337): ReadyChain => ({
  state: { chainId },
  ...{ headStatus: running, historyStatus: running, clickhouseStatus: running },
  caughtUp: () => true,
  ...told,
})

test('chains that have caught up are ready', () => {
  expect(readinessOf([chain(), chain({}, 4217)], 'all')).toEqual({ ready: true })
})

test('one that has not says which it is', () => {
  const behind = chain({ caughtUp: (scope) => scope === 'head' }, 4217)
  expect(readinessOf([chain(), behind], 'all')).toEqual({
    ready: false,
    reason: 'chain 4217 has not caught up with the head at start yet',
  })
  expect(readinessOf([chain(), behind], 'head')).toEqual({ ready: true })
})

test.each(['finality_violated', 'stopped'])('a head that is %s is not ready, and says why', (state) => {
  const headStatus = { state, problem: 'block 47 was final as 0xab' }
  for (const scope of ['all', 'head'] as const)
    expect(readinessOf([chain(), chain({ headStatus }, 4217)], scope)).toEqual({
      ready: false,
      reason: `chain 4217 stands until a person acts (head: ${state}): block 47 was final as 0xab`,
    })
})

test.each(['historyStatus', 'clickhouseStatus'] as const)(
  'a %s that stopped holds up all but the head',
  (lane) => {
    const stopped = chain({ [lane]: { state: 'stopped', problem: 'why' } })
    expect(readinessOf([stopped], 'all')).toMatchObject({
      ready: false,
      reason: expect.stringMatching(/stopped\): why$/),
    })
    expect(readinessOf([stopped], 'head')).toEqual({ ready: true })
  },
)

test('what waits may pass: it stays ready', () => {
  expect(
    readinessOf([chain({ headStatus: { state: 'waiting', problem: 'the node is away' } })], 'all'),
  ).toEqual({
    ready: true,
  })
})
