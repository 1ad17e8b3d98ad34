/**
 * Entry of a worker thread that runs one query at a time, each in a session of its own. Threads,
 * because chDB starts a streamed query on the calling thread: a slow scalar subquery would hold the
 * HTTP server's event loop.
 */

import { parentPort, workerData } from 'node:worker_threads'

import { ChdbSession } from './ChdbSession.ts'
import { HeldChunks } from './HeldChunks.ts'
import { QueryError, queryError } from './QueryError.ts'
import { RepeatedHead } from './RepeatedHead.ts'
import { quoteString } from './sessionSetup.ts'
import { tagWithQueryId } from './statement.ts'
import { headedFormat, type ThreadEvent, type ThreadJob, type ThreadRequest } from './threadMessages.ts'

const { dataPath, configFile } = parseThreadData(workerData)
const port = parentPort ?? fail('clickhouseThread.ts runs as a worker thread only')
const held = new HeldChunks()
let wake: ((request: ThreadRequest) => void) | undefined

/**
 * An unused session with the settings of the last reader, opened ahead: opening one costs 1.4 ms.
 */
let spare: { readonly setup: string; readonly session: ChdbSession } | undefined
/** A job that comes while a session is made ready waits for it. */
let ready: Promise<void> = Promise.resolve()

port.on('message', (request: ThreadRequest) => {
  if (request.type === 'run') ready = ready.then(() => run(request.job)).then(() => prepare(request.job))
  else if (request.type === 'close') ready = ready.then(close)
  else wake?.(request)
})

async function run(job: ThreadJob): Promise<void> {
  let session: ChdbSession | undefined
  try {
    session = takeSpare(job.setup) ?? (await open(job.setup))
    await runIn(session, job)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    send([...held.take(), { type: 'error', number: error.number, message: error.message }])
  } finally {
    session?.close()
  }
}

/** Only for readers, whose settings are alike. */
async function prepare({ readOnly, setup }: ThreadJob): Promise<void> {
  dropSpare()
  if (!readOnly) return
  try {
    spare = { setup, session: await open(setup) }
  } catch {
    // The next job opens its own, and hears what stands in the way.
  }
}

async function open(setup: string): Promise<ChdbSession> {
  const session = new ChdbSession(dataPath, configFile)
  try {
    if (setup !== '') await session.run(setup)
    return session
  } catch (error) {
    session.close()
    throw error
  }
}

function takeSpare(setup: string): ChdbSession | undefined {
  if (spare?.setup !== setup) return undefined
  const { session } = spare
  spare = undefined
  return session
}

function dropSpare(): void {
  spare?.session.close()
  spare = undefined
}

function close(): void {
  dropSpare()
  port.close()
}

/**
 * Never gives the engine more than one statement: it runs what it is given, one after the other. A
 * text that is none goes to formatQuery, which only parses, for the engine's own words about what
 * is wrong.
 */
async function runIn(session: ChdbSession, job: ThreadJob): Promise<void> {
  const { statements, readOnly } = await session.classify(job.sql)
  if (statements !== 1) {
    await session.run(`SELECT formatQuery(${quoteString(job.sql)})`)
    throw queryError('SYNTAX_ERROR', `Syntax error: one statement is allowed, not ${statements}.`)
  }
  if (job.readOnly && !readOnly) throw queryError('READONLY', 'Cannot execute query in readonly mode.')
  if (job.stream && readOnly) await stream(session, job)
  else await buffer(session, job)
}

async function stream(session: ChdbSession, job: ThreadJob): Promise<void> {
  const head = job.format === headedFormat ? new RepeatedHead() : undefined
  for await (const bytes of session.stream(tagWithQueryId(job.sql, job.queryId), job.format)) {
    held.add(head?.strip(bytes) ?? bytes)
    if (held.isDue && !(await deliver())) break
  }
  send([...held.take(), { type: 'end' }])
}

async function buffer(session: ChdbSession, job: ThreadJob): Promise<void> {
  const bytes = await session.run(tagWithQueryId(job.sql, job.queryId), job.format)
  if (bytes.length > 0) held.add(bytes)
  send([...held.take(), { type: 'end' }])
}

/** Hands over what is held and waits until the client has taken it; false when it wants no more. */
function deliver(): Promise<boolean> {
  const answer = new Promise<boolean>((resolve) => {
    wake = (request) => resolve(request.type === 'pull')
  })
  send(held.take())
  return answer
}

function send(events: readonly ThreadEvent[]): void {
  const buffers = events.flatMap((event) => (event.type === 'chunk' ? [event.bytes.buffer] : []))
  port.postMessage(events, buffers)
}

function parseThreadData(value: unknown): { dataPath: string; configFile: string } {
  if (typeof value === 'object' && value !== null && 'dataPath' in value && 'configFile' in value) {
    return { dataPath: String(value.dataPath), configFile: String(value.configFile) }
  }
  return fail('a thread needs dataPath and configFile')
}

function fail(problem: string): never {
  throw new TypeError(problem)
}
