/**
 * The interactive reference at /docs; nothing comes from a CDN. The package behind it is one text
 * of four megabytes: loaded beside the program, with its compiled code, it took 45 MB that most
 * runs never use. So a thread makes its two files for the first who opens the page, and ends.
 */
import { Worker } from 'node:worker_threads'
import type { FastifyInstance } from 'fastify'
import { failure } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { ApiError } from '../errors.ts'

export interface ReferenceFiles {
  /** HTML that asks for `js/scalar.js` and for our document, both relative to itself. */
  readonly page: string
  readonly script: Uint8Array<ArrayBuffer>
}

export interface ReferenceOptions {
  readonly clock: Clock
  /** Default: the thread of reference.worker.ts. */
  readonly startThread?: () => Worker
}

/** A machine with nothing else to do needs 2 s; every operation is to answer within 60. */
const THREAD_TIMEOUT_MS = 30_000

export function addReference(
  app: FastifyInstance,
  { clock, startThread = startReferenceThread }: ReferenceOptions,
): void {
  let made: Promise<ReferenceFiles> | null = null
  const files = () => {
    made ??= makeFiles(startThread, clock).catch((cause: unknown) => {
      // The next request tries again.
      made = null
      throw new ApiError('overloaded', 'The reference could not be made. Retry shortly.', { cause })
    })
    return made
  }
  app.get('/docs', (_request, reply) => reply.redirect('/docs/', 301))
  app.get('/docs/', async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send((await files()).page),
  )
  app.get('/docs/js/scalar.js', async (_request, reply) => {
    const { buffer } = (await files()).script
    return reply.type('application/javascript; charset=utf-8').send(Buffer.from(buffer))
  })
}

const startReferenceThread = () => new Worker(new URL('./reference.worker.ts', import.meta.url))

/** @throws ReferenceThreadError, or what the thread threw */
async function makeFiles(startThread: () => Worker, clock: Clock): Promise<ReferenceFiles> {
  const thread = startThread()
  const ended = new AbortController()
  try {
    return await new Promise<ReferenceFiles>((resolve, reject) => {
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', (code) => reject(new ReferenceThreadError(`ended with ${code}`)))
      clock.sleep(THREAD_TIMEOUT_MS, ended.signal).then(
        () => reject(new ReferenceThreadError(`did not end within ${THREAD_TIMEOUT_MS} ms`)),
        () => {},
      )
    })
  } finally {
    ended.abort()
    // One that gave its files is ending by itself.
    await thread.terminate()
  }
}

/** The thread that makes the reference gave nothing. */
export class ReferenceThreadError extends failure('ReferenceThreadError', 'reference_thread', 'retry') {
  constructor(problem: string) {
    super(`the reference was not made: its thread ${problem}`)
  }
}
