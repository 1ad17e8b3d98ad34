// Goal: a reference that cannot be made is told as such, and the next who asks gets it.
import { Worker } from 'node:worker_threads'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { sendError } from '#http/answer/errorReply.ts'
import { addReference } from '#http/document/reference.ts'
import { silentLogger } from '#telemetry.ts'
import { ManualClock } from './support/toolkitServer.ts'

/** Answers what the second thread gives at once. */
const honest = `require('node:worker_threads').parentPort.postMessage({ page: '<p>', script: new Uint8Array([59]) })`

const failures: readonly (readonly [string, string])[] = [
  ['never answers', 'setInterval(() => {}, 1_000_000)'],
  ['ends', 'process.exit(3)'],
  ['throws', 'throw new Error("no such package at /a/path")'],
]

test.each(failures)('a thread that %s is a 503, and another one is started', async (_, source) => {
  const clock = new ManualClock()
  const sources = [source, honest]
  const threads: Worker[] = []
  const startThread = () => {
    const thread = new Worker(sources.shift() ?? '', { eval: true })
    threads.push(thread)
    return thread
  }
  const app = Fastify()
  onTestFinished(() => app.close())
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, silentLogger))
  addReference(app, { clock, startThread })

  let first: Awaited<ReturnType<typeof app.inject>> | undefined
  const asked = app.inject('/docs/').then((response) => {
    first = response
  })
  while (!first) await clock.advance(1_000)
  await asked
  expect(first.statusCode).toBe(503)
  expect(first.json().error).toEqual({
    code: 'overloaded',
    message: 'The reference could not be made. Retry shortly.',
  })
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1])

  const second = await app.inject('/docs/')
  expect([second.statusCode, second.body]).toEqual([200, '<p>'])
  expect((await app.inject('/docs/js/scalar.js')).body).toBe(';')
  expect(threads).toHaveLength(2)
})
