import { expect, test } from 'vitest'
import { address } from '#primitives.ts'
import type { RpcCall } from './client/client.ts'
import { RpcError, SourceError } from './client/errors.ts'
import { contractCalls } from './contractCalls.ts'

const ANSWER_MAX = 1_000
const contract = (n: number) => address(`0x${n.toString(16).padStart(40, '0')}`)

/**
 * A node that refuses an answer of more characters; contracts from `large` on answer so many each.
 */
function nodeOf(large: ReadonlyMap<string, number>) {
  let requests = 0
  const callAll = async (calls: readonly RpcCall[]) => {
    requests++
    const answers = calls.map(
      ({ params: [call] }) => `0x${'41'.repeat((large.get(Object(call).to) ?? 2) / 2)}`,
    )
    if (answers.join('').length <= ANSWER_MAX) return answers
    const cause = new RpcError('too_large', 'node', 'the answer is longer')
    throw new SourceError('calls', 1, cause)
  }
  return { callAll, requests: () => requests }
}

const { signal } = new AbortController()
const ask = (n: number) => ({ to: contract(n), data: '0x06fdde03' as const })

test('contracts that answer much are asked in smaller pieces, and only what is too large alone is left out', async () => {
  const large = new Map([
    [contract(3), 600],
    [contract(4), 600],
    [contract(9), 5_000],
  ])
  const node = nodeOf(large)
  const calls = Array.from({ length: 100 }, (_, n) => ask(n))
  const answers = await contractCalls(node)(calls, 'latest', signal)
  expect(answers.map((answer) => answer?.length ?? null)).toEqual(
    calls.map((_, n) => (n === 9 ? null : (large.get(contract(n)) ?? 2) + 2)),
  )
  expect(node.requests()).toBeLessThan(30)
})

test('other failures are not looked for in halves', async () => {
  let requests = 0
  const callAll = async () => {
    requests++
    throw new SourceError('calls', 1, new RpcError('timed_out', 'node', 'no answer'))
  }
  await expect(contractCalls({ callAll })([ask(1), ask(2)], 'latest', signal)).rejects.toThrow('timed_out')
  expect(requests).toBe(1)
})
