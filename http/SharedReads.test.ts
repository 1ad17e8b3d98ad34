import { expect, test } from 'vitest'
import { SharedReads } from './SharedReads.ts'

/** A read that ends when the test says so. */
function startRead() {
  const reads: { signal: AbortSignal; done: PromiseWithResolvers<string> }[] = []
  const read = (signal: AbortSignal) => {
    const done = Promise.withResolvers<string>()
    reads.push({ signal, done })
    return done.promise
  }
  return { reads, read }
}

const { signal } = new AbortController()

test('reads of one key at one time are one read, and the next begins anew', async () => {
  const shared = new SharedReads<string>()
  const { reads, read } = startRead()
  const answers = [shared.join('a', signal, read), shared.join('a', signal, read)]
  const other = shared.join('b', signal, read)
  expect(reads).toHaveLength(2)
  reads[0]?.done.resolve('first')
  reads[1]?.done.resolve('other')
  expect(await Promise.all([...answers, other])).toEqual(['first', 'first', 'other'])
  const later = shared.join('a', signal, read)
  reads[2]?.done.resolve('second')
  expect(await later).toBe('second')
})

test('a failure is told to all who share it and to nobody after them', async () => {
  const shared = new SharedReads<string>()
  const { reads, read } = startRead()
  const answers = [shared.join('a', signal, read), shared.join('a', signal, read)]
  reads[0]?.done.reject(new Error('refused'))
  for (const answer of answers) await expect(answer).rejects.toThrow('refused')
  const later = shared.join('a', signal, read)
  reads[1]?.done.resolve('read')
  expect(await later).toBe('read')
})

test('a read goes on while anybody waits, ends with the last of them, and is not joined then', async () => {
  const shared = new SharedReads<string>()
  const { reads, read } = startRead()
  const [first, second] = [new AbortController(), new AbortController()]
  for (const { signal } of [first, second]) shared.join('a', signal, read).catch(() => {})
  first.abort(new Error('gone'))
  expect(reads[0]?.signal.aborted).toBe(false)
  second.abort(new Error('gone too'))
  expect(reads[0]?.signal.reason).toMatchObject({ message: 'gone too' })
  const later = shared.join('a', signal, read)
  expect(reads).toHaveLength(2)
  reads[0]?.done.resolve('late')
  reads[1]?.done.resolve('new')
  expect(await later).toBe('new')
})
