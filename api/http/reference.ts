/**
 * The interactive reference at /docs; nothing comes from a CDN. The package behind it is one text of four megabytes: loaded
 * beside the program, with its compiled code, it took 45 MB that most runs never use. So a thread makes its two files for
 * the first who opens the page, and ends.
 */
import { Worker } from 'node:worker_threads'
import type { FastifyInstance } from 'fastify'

export interface ReferenceFiles {
  /** HTML that asks for `js/scalar.js` and for our document, both relative to itself. */
  readonly page: string
  readonly script: Uint8Array<ArrayBuffer>
}

export function addReference(app: FastifyInstance): void {
  let made: Promise<ReferenceFiles> | null = null
  const files = () => {
    made ??= makeFiles().catch((error: unknown) => {
      // The next who asks may have more luck.
      made = null
      throw error
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

function makeFiles(): Promise<ReferenceFiles> {
  const worker = new Worker(new URL('./reference.worker.ts', import.meta.url))
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) =>
      reject(new Error(`the reference was not made: its thread ended with ${code}`)),
    )
  })
}
