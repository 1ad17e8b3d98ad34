/**
 * Entry of a worker thread that runs one query at a time, each in a session of its own. Threads, because chDB starts a
 * streamed query on the calling thread: a slow scalar subquery would hold the HTTP server's event loop.
 */

import { parentPort, workerData } from 'node:worker_threads'

import { ChdbSession } from './chdb.ts'
import { QueryError, queryError } from './queryError.ts'
import { quoteString } from './sessionSetup.ts'
import { tagWithQueryId } from './statement.ts'

/** One query for a lane. */
export interface LaneJob {
  /** Our own statements that prepare the session: USE, SET ROLE, SET. */
  readonly setup: string
  readonly sql: string
  readonly queryId: string
  readonly format: string
  /** Refuse everything but one reading statement. */
  readonly readOnly: boolean
  /** The answer may be sent block by block. */
  readonly stream: boolean
}

/** What the server tells a lane. After each chunk the lane waits for `pull`. */
export type LaneRequest =
  | { readonly type: 'run'; readonly job: LaneJob }
  | { readonly type: 'pull' }
  | { readonly type: 'cancel' }

/** What a lane tells the server, in this order: start, chunks, and end or error. An error may come at any point. */
export type LaneEvent =
  | { readonly type: 'start'; readonly readOnly: boolean }
  | { readonly type: 'chunk'; readonly bytes: Uint8Array }
  | { readonly type: 'end'; readonly rowsRead: number; readonly bytesRead: number }
  | { readonly type: 'error'; readonly number: number; readonly message: string }

const { dataPath, configFile } = parseLaneData(workerData)
const port = parentPort ?? fail('clickhouseLane.ts runs as a worker thread only')
let wake: ((request: LaneRequest) => void) | undefined

port.on('message', (request: LaneRequest) => {
  if (request.type === 'run') void run(request.job)
  else wake?.(request)
})

async function run(job: LaneJob): Promise<void> {
  let session: ChdbSession | undefined
  try {
    session = new ChdbSession(dataPath, configFile)
    await runIn(session, job)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    send({ type: 'error', number: error.number, message: error.message })
  } finally {
    session?.close()
  }
}

/**
 * Never gives the engine more than one statement: it runs what it is given, one after the other. A text that is none
 * goes to formatQuery, which only parses, for the engine's own words about what is wrong.
 */
async function runIn(session: ChdbSession, job: LaneJob): Promise<void> {
  const { statements, readOnly } = await session.classify(job.sql)
  if (statements !== 1) {
    await session.run(`SELECT formatQuery(${quoteString(job.sql)})`)
    throw queryError('SYNTAX_ERROR', `Syntax error: one statement is allowed, not ${statements}.`)
  }
  if (job.readOnly && !readOnly) throw queryError('READONLY', 'Cannot execute query in readonly mode.')
  if (job.setup !== '') await session.run(job.setup)
  send({ type: 'start', readOnly })
  if (job.stream && readOnly) await stream(session, job)
  else await buffer(session, job)
}

async function stream(session: ChdbSession, job: LaneJob): Promise<void> {
  for await (const bytes of session.stream(tagWithQueryId(job.sql, job.queryId), job.format)) {
    if (!(await offer(bytes))) break
  }
  send({ type: 'end', rowsRead: 0, bytesRead: 0 })
}

async function buffer(session: ChdbSession, job: LaneJob): Promise<void> {
  const { bytes, rowsRead, bytesRead } = await session.run(tagWithQueryId(job.sql, job.queryId), job.format)
  if (bytes.length > 0) await offer(bytes)
  send({ type: 'end', rowsRead, bytesRead })
}

/** Hands over one chunk and waits until the client has taken it; false when it wants no more. */
function offer(bytes: Uint8Array): Promise<boolean> {
  const answer = new Promise<boolean>((resolve) => {
    wake = (request) => resolve(request.type === 'pull')
  })
  // The engine's memory cannot be transferred to another thread; a copy of ours can.
  const copy = new Uint8Array(bytes)
  send({ type: 'chunk', bytes: copy }, [copy.buffer])
  return answer
}

function send(event: LaneEvent, transfer: ArrayBuffer[] = []): void {
  port.postMessage(event, transfer)
}

function parseLaneData(value: unknown): { dataPath: string; configFile: string } {
  if (typeof value === 'object' && value !== null && 'dataPath' in value && 'configFile' in value) {
    return { dataPath: String(value.dataPath), configFile: String(value.configFile) }
  }
  return fail('a lane needs dataPath and configFile')
}

function fail(problem: string): never {
  throw new TypeError(problem)
}
