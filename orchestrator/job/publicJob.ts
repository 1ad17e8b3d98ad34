/**
 * A job as it is answered. Results are written out piece by piece, as they were stored: together
 * they may have 32 MiB.
 */
import * as s from '#http/schema.ts'
import { decimalText } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { readRefund } from '#rows/jobs/payerJobs.ts'
import {
  findJob,
  type ReadAttempt,
  type ReadJob,
  type ReadNode,
  readAttempts,
  readNodes,
  readOutputs,
  readPlanText,
} from '#rows/jobs/reads.ts'
import type { Plan } from '../plan/plan.ts'
import { jobErrors, nodeErrors, remedies, remedyOf } from './jobErrors.ts'
import { orderSchema, presentOrder } from './publicOrder.ts'
import { isNodeOver } from './transitions.ts'

const amount = s.text({ description: 'Decimal, in the currency of the quote.', examples: ['0.05'] })
const remedy = s.oneOf(remedies, {
  description:
    '`retry`: the same may work later; `change_plan`: quote another plan; `none`: nothing helps, or nothing is needed.',
})
const codeOf = (codes: readonly string[]) =>
  s.text({ description: `${codes.map((code) => `\`${code}\``).join(', ')}: /docs/errors explains each.` })
const nodeCode = codeOf(Object.keys(nodeErrors))
const errorSchema = s.named('JobError', {
  code: codeOf([...jobErrors, ...Object.keys(nodeErrors)]),
  message: s.text(),
  remedy,
})

const attemptSchema = s.named('JobAttempt', {
  attempt: s.count,
  outcome: s.optional(s.text({ description: 'Absent while it is under way.' })),
  status: s.optional(s.integer()),
  code: s.optional(nodeCode),
  paid: s.optional(
    s.object({
      amount,
      fee: s.optional(
        s.text({
          description: 'What the chain took, in the currency of the quote; absent while it is not known.',
        }),
      ),
      chainId: s.integer(),
      token: s.address,
      transactionHash: s.optional(s.hash),
    }),
  ),
  startedAt: s.timestamp,
  endedAt: s.optional(s.timestamp),
  durationMs: s.optional(s.count),
})

const runSchema = s.named('JobRun', {
  nodeId: s.text(),
  serviceId: s.text(),
  method: s.text(),
  path: s.text(),
  dependsOn: s.optional(s.array(s.text(), { description: 'Absent once the results are removed.' })),
  state: s.text(),
  carried: s.boolean(),
  quoted: amount,
  attempts: s.array(attemptSchema),
  nextTryAt: s.optional(s.timestamp),
  outputBytes: s.optional(s.count),
  outputDigest: s.optional(s.text({ description: 'SHA-256 of the output’s bytes, in hex.' })),
  error: s.optional(errorSchema),
})

export const jobSchema = s.named('Job', {
  jobId: s.text({ format: 'uuid' }),
  ready: s.boolean(),
  status: s.optional(s.text({ description: '`succeeded`, `partially_succeeded`, `failed` or `cancelled`.' })),
  ok: s.optional(s.boolean({ description: 'Every node has its output.' })),
  cached: s.optional(s.boolean()),
  result: s.optional(s.record(s.json('What the service answered.'))),
  usage: s.optional(s.object({ committed: amount, currency: s.text(), paymentMethod: s.optional(s.text()) })),
  error: s.optional(errorSchema),
  order: s.optional(orderSchema),
  runs: s.optional(s.array(runSchema)),
})

export interface PublicJob {
  readonly isReady: boolean
  /** Outputs in `pieces`, with their sizes in bytes. */
  readonly outputs: readonly OutputSize[]
  /** JSON, in pieces. */
  readonly pieces: AsyncGenerator<string>
}

export interface OutputSize {
  readonly nodeId: string
  readonly bytes: number
}

/**
 * Null for an id that no job has.
 * @param nodeIds whose outputs alone are told; null for all
 */
export async function publicJob(
  app: AppDatabase,
  jobId: string,
  withRuns: boolean,
  nodeIds: ReadonlySet<string> | null = null,
): Promise<PublicJob | null> {
  const job = await findJob(app, jobId)
  if (job === 'ordered') return { isReady: false, outputs: [], pieces: pendingJob(jobId, {}) }
  if (!job) return null
  const nodes = await readNodes(app, jobId)
  const runs = withRuns ? await detailOf(app, job, nodes) : {}
  const isReady = job.endedAt !== null
  if (!isReady) return { isReady, outputs: [], pieces: pendingJob(jobId, runs) }
  const held = heldBy(job, nodes).filter(({ nodeId }) => nodeIds?.has(nodeId) ?? true)
  const outputs = held.map(({ nodeId, outputBytes }) => ({ nodeId, bytes: outputBytes ?? 0 }))
  return { isReady, outputs, pieces: readyJob(app, job, { nodes, held }, runs) }
}

async function detailOf(app: AppDatabase, job: ReadJob, nodes: readonly ReadNode[]) {
  const { jobId } = job
  const [attempts, plan, refund] = await Promise.all([
    readAttempts(app, jobId),
    readPlanText(app, jobId),
    readRefund(app, jobId),
  ])
  return { order: presentOrder(job, refund), runs: runsOf(job, nodes, attempts, dependenciesIn(plan)) }
}

/** By node; null once the plan is removed. */
function dependenciesIn(text: string | null): ReadonlyMap<string, readonly string[]> | null {
  if (text === null) return null
  const plan: Plan = JSON.parse(text)
  return new Map(plan.nodes.map(({ id, dependsOn }) => [id, dependsOn]))
}

async function* pendingJob(jobId: string, runs: object): AsyncGenerator<string> {
  yield JSON.stringify({ jobId, ready: false, ...runs })
}

/** Nodes whose outputs are kept. */
const heldBy = ({ areResultsRemoved }: ReadJob, nodes: readonly ReadNode[]): readonly ReadNode[] =>
  areResultsRemoved ? [] : nodes.filter(({ state }) => state === 'succeeded')

/** Read together: small outputs are many. */
const PIECE_BYTES = 1_024 * 1_024

async function* readyJob(
  app: AppDatabase,
  job: ReadJob,
  { nodes, held }: { readonly nodes: readonly ReadNode[]; readonly held: readonly ReadNode[] },
  runs: object,
): AsyncGenerator<string> {
  const { jobId, state, currency, decimals, paymentMethod, committedUnits } = job
  const error = errorOf(job, nodes)
  const head = { jobId, ready: true, status: state, ok: state === 'succeeded', cached: true }
  yield `${JSON.stringify(head).slice(0, -1)},"result":{`
  let isFirst = true
  for (const batch of batchesOf(held)) {
    const outputs = await readOutputs(app, jobId, batch)
    for (const nodeId of batch) {
      yield `${isFirst ? '' : ','}${JSON.stringify(nodeId)}:${outputs.get(nodeId) ?? 'null'}`
      isFirst = false
    }
  }
  const usage = {
    committed: decimalText(committedUnits ?? 0n, decimals),
    currency,
    ...(paymentMethod !== null && { paymentMethod }),
  }
  yield `},${JSON.stringify({ usage, ...(error && { error }), ...runs }).slice(1)}`
}

function* batchesOf(nodes: readonly ReadNode[]): Generator<readonly string[]> {
  let batch: string[] = []
  let bytes = 0
  for (const { nodeId, outputBytes } of nodes) {
    if (batch.length > 0 && bytes + (outputBytes ?? 0) > PIECE_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(nodeId)
    bytes += outputBytes ?? 0
  }
  if (batch.length > 0) yield batch
}

type PublicError = s.Static<typeof errorSchema>

function errorOf({ state, areResultsRemoved }: ReadJob, nodes: readonly ReadNode[]): PublicError | null {
  if (areResultsRemoved)
    return {
      code: 'job_results_removed',
      message: 'The outputs are no longer kept.',
      remedy: 'none',
    }
  if (state === 'succeeded') return null
  const failed = nodes.filter(({ state: of, errorCode }) => of === 'failed' && errorCode !== null)
  const named = failed.slice(0, 5).map(({ nodeId, errorCode }) => `${nodeId} (${errorCode})`)
  const more = failed.length > named.length ? ` and ${failed.length - named.length} more` : ''
  const isPassing = failed.every(({ errorCode }) => remedyOf(errorCode) === 'retry')
  const why = failed.length > 0 ? `These nodes failed: ${named.join(', ')}${more}.` : 'It was cancelled.'
  const code = state === 'cancelled' ? 'job_cancelled' : `job_${state}`
  return { code, message: why, remedy: failed.length > 0 && isPassing ? 'retry' : 'change_plan' }
}

function runsOf(
  { decimals }: ReadJob,
  nodes: readonly ReadNode[],
  attempts: readonly ReadAttempt[],
  dependencies: ReadonlyMap<string, readonly string[]> | null,
): s.Static<typeof runSchema>[] {
  const byNode = Map.groupBy(attempts, ({ nodeId }) => nodeId)
  return nodes.map((node) => ({
    nodeId: node.nodeId,
    serviceId: node.serviceId,
    method: node.method,
    path: node.path,
    ...(dependencies && { dependsOn: [...(dependencies.get(node.nodeId) ?? [])] }),
    state: node.state,
    carried: node.isCarried,
    quoted: decimalText(node.unitsMax, decimals),
    attempts: (byNode.get(node.nodeId) ?? []).map((attempt) => attemptOf(attempt, decimals)),
    ...(node.dueAt !== null && !isNodeOver(node.state) && { nextTryAt: dateText(node.dueAt) }),
    ...(node.outputBytes !== null && { outputBytes: node.outputBytes }),
    ...(node.outputDigest !== null && { outputDigest: node.outputDigest }),
    ...(node.errorCode !== null && {
      error: { code: node.errorCode, message: node.errorMessage ?? '', remedy: remedyOf(node.errorCode) },
    }),
  }))
}

function attemptOf(
  { attempt, outcome, status, errorCode, paid, startedAt, endedAt }: ReadAttempt,
  decimals: number,
): s.Static<typeof attemptSchema> {
  return {
    attempt,
    ...(outcome !== null && { outcome }),
    ...(status !== null && { status }),
    ...(errorCode !== null && { code: errorCode }),
    ...(paid && {
      paid: {
        amount: decimalText(paid.units, decimals),
        ...(paid.fee && { fee: decimalText(paid.fee.units, decimals) }),
        chainId: paid.chainId,
        token: paid.currency,
        ...(paid.transactionHash !== null && { transactionHash: paid.transactionHash }),
      },
    }),
    startedAt: dateText(startedAt),
    ...(endedAt && {
      endedAt: dateText(endedAt),
      durationMs: Math.max(0, endedAt.getTime() - startedAt.getTime()),
    }),
  }
}

const dateText = (moment: Date): string => s.isoSeconds(moment.getTime() / 1_000)
