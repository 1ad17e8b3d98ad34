import { expect, test } from 'vitest'
import { RpcError, type RpcFailure, SourceError } from '#ingest/rpc/client/errors.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { patientHead } from './patientHead.ts'

const head = { number: 7, hash: hash(`0x${'07'.repeat(32)}`), parentHash: hash(`0x${'06'.repeat(32)}`) }
const answer = { head, finalized: 7, finalizedBy: head, toldBy: { head: 'one', finalized: 'one' } }
const failed = (failure: RpcFailure) => new SourceError('the head', 1, new RpcError(failure, 'one', ''))

/** Asks a source that fails so, one by one, and answers then. */
async function ask(failures: readonly Error[]) {
  const pauses: number[] = []
  const left = [...failures]
  const source = {
    head: async () => {
      const error = left.shift()
      if (error) throw error
      return answer
    },
  }
  const clock = { ...systemRuntime().clock, sleep: async (ms: number) => void pauses.push(ms) }
  const told = await patientHead(source, clock).catch((error: unknown) => error)
  return { told, pauses }
}

test('a head that is not told at once is asked for again, in growing pauses', async () => {
  const lost = [failed('block_missing'), failed('rate_limited'), failed('unreachable')]
  expect(await ask(lost)).toEqual({ told: answer, pauses: [300, 600, 1200] })
})

test('four lost answers are the end', async () => {
  const last = failed('overloaded')
  const lost = [failed('timed_out'), failed('node_error'), failed('malformed'), last]
  expect((await ask(lost)).told).toBe(last)
})

test.each([failed('unauthorized'), new TypeError('no source')])('%s is no passing failure', async (error) => {
  expect(await ask([error])).toEqual({ told: error, pauses: [] })
})
