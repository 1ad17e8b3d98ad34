import { expect, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { EXPORT_ROWS_MAX } from './limits.ts'
import { QueryTurns } from './QueryTurns.ts'
import type { ResultEvent } from './result.ts'

const { clock } = systemRuntime()
const noDebts = { leftMs: async () => 0, add: async () => 0 }
const limits = { running: 4, waiting: 16, waitMs: 60_000 }

/** Begins a query that runs until it is ended, and tells whether it runs. */
function begin(turns: QueryTurns, party: string, behind: boolean, limit = 10) {
  const state = { runs: false }
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  async function* read(): AsyncGenerator<ResultEvent> {
    state.runs = true
    await ended
    yield { kind: 'rows', rows: { count: 0, json: Buffer.alloc(0) } }
  }
  const done = (async () => {
    for await (const _ of turns.hold({ party, behind, limit }, read));
  })()
  return { state, end, done }
}

test.each([
  ['queries', 10, 4],
  ['exports', EXPORT_ROWS_MAX, 2],
])(
  'callers that nobody knows have half of the slots for %s together, others the rest',
  async (_, limit, slots) => {
    const turns = new QueryTurns(limits, clock, noDebts)
    const strangers = Array.from({ length: 6 }, (_each, n) => begin(turns, `ip:${n}`, true, limit))
    const known = Array.from({ length: slots / 2 }, (_each, n) => begin(turns, `key:${n}`, false, limit))
    const running = (all: typeof known) => all.filter(({ state }) => state.runs).length
    await expect.poll(() => running(known)).toBe(slots / 2)
    expect(running(strangers)).toBe(slots / 2)
    strangers[0]?.end()
    await expect.poll(() => running(strangers)).toBe(slots / 2 + 1)
    for (const { end } of [...strangers, ...known]) end()
    await Promise.all([...strangers, ...known].map(({ done }) => done))
  },
)

test('an explanation takes its turn as a query does', async () => {
  const turns = new QueryTurns({ ...limits, running: 2 }, clock, noDebts)
  const first = begin(turns, 'ip:1', true)
  await expect.poll(() => first.state.runs).toBe(true)
  let isDone = false
  const second = turns.run({ party: 'ip:2', behind: true, limit: 10 }, async () => {
    isDone = true
  })
  expect(await turns.run({ party: 'key:1', limit: 10 }, async () => isDone)).toBe(false)
  first.end()
  await Promise.all([first.done, second])
  expect(isDone).toBe(true)
})
