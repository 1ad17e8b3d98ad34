import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '#telemetry.ts'
import { CallMaker } from './CallMaker.ts'

const digits = '123456789012345678901'
const endpoint = { method: 'POST', requestFormat: 'json' } as const
const url = 'https://seller.example/'
const { signal } = new AbortController()

test('others have their turn while thousands of numbers that no double holds are read', async () => {
  const maker = new CallMaker(silentLogger)
  onTestFinished(() => maker.close())
  const whole = `[${Array(9_999).fill(digits).join(',')}]`
  const make = (input: unknown) => {
    const outputs = new Map([['a', whole]])
    return maker.make({ endpoint, url, input, outputs }, signal)
  }
  let turns = 0
  let isMade = false
  const made = make({ last: 'flow://a/output#/9998' }).finally(() => {
    isMade = true
  })
  for (; !isMade; turns++) await turn()
  expect(await made).toMatchObject({ url, method: 'POST', body: `{"last":${digits}}` })
  expect(turns).toBeGreaterThan(3)
  expect(await make('flow://a/output#/9999')).toEqual({
    code: 'input_unresolved',
    message: 'The input cannot be made: there is nothing at flow://a/output#/9999.',
  })
})

test('a call that is given up gives up its thread, and the next has another', async () => {
  const maker = new CallMaker(silentLogger)
  onTestFinished(() => maker.close())
  const task = {
    endpoint,
    url,
    input: 'flow://a/output',
    outputs: new Map([['a', `["${'x'.repeat(20_000)}"]`]]),
  }
  const reason = new Error('over')
  const given = new AbortController()
  const made = maker.make(task, given.signal)
  given.abort(reason)
  await expect(made).rejects.toBe(reason)
  expect(await maker.make(task, signal)).toMatchObject({ body: task.outputs.get('a') })
})
