/** The task of an indexing process, as one JSON argument, and the processes themselves. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ChainLimits } from '#program/chain/Chain.ts'
import type { Checks } from '#transform/profile.ts'
import { loadRecordedChain, type RecordedChain } from '../../support/recordedChain.ts'
import type { Access } from './indexedChain.ts'

export interface Task {
  readonly access: Access
  readonly recording: string
  readonly head: number
  readonly finality: number
  /** Reorganizations the chain has been through, oldest first: at which head, how many blocks. */
  readonly reorgs: readonly { readonly head: number; readonly depth: number }[]
  readonly checks: Checks
  readonly batchBlocks: number
  readonly limits: Partial<ChainLimits>
  /** `name:nth`, where the process kills itself. */
  readonly failpoint?: string
}

export function parseTask(text: string): Task {
  const task: Task = JSON.parse(text)
  return task
}

/**
 * The chain as its node shows it in the task: the same in every process, and in the test that
 * checks them.
 */
export async function recordedChainOf(task: Task): Promise<RecordedChain> {
  const { recording, head, finality, reorgs } = task
  const recorded = await loadRecordedChain(recording, head, finality)
  for (const reorg of reorgs) {
    recorded.advanceTo(reorg.head)
    recorded.reorg(reorg.depth)
  }
  recorded.advanceTo(head)
  return recorded
}

/** How an indexing process ended. */
export interface End {
  readonly killed: boolean
  readonly code: number | null
  readonly output: string
}

/** An indexing process that was begun. */
export interface Indexing {
  readonly child: ChildProcess
  /** Resolves when its lanes run, or when it ended. */
  readonly started: Promise<unknown>
  readonly ended: Promise<End>
}

export function startIndexing(task: Task): Indexing {
  const entry = fileURLToPath(new URL('./indexer.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const started = Promise.withResolvers<void>()
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString()
    if (output.includes('started')) started.resolve()
  })
  child.stderr.on('data', (bytes: Buffer) => {
    output += bytes.toString()
  })
  const ended = once(child, 'exit').then(([code, signal]): End => {
    started.resolve()
    return { killed: signal === 'SIGKILL', code, output }
  })
  return { child, started: started.promise, ended }
}

/** Runs to the end. */
export async function index(task: Task): Promise<End> {
  return startIndexing(task).ended
}
