/** /v1/webhooks/{id}/replay: events of the past, sent once more. */

import { command, endpoint } from '#http/endpoint.ts'
import { ApiError, bodyProblem } from '#http/errors.ts'
import * as s from '#http/schema.ts'
import { type ReplayOf, replayStatuses } from '#rows/webhooks/replays.ts'
import { type Progress, REPLAY_BLOCKS_MAX, type Rehearsal } from '#webhooks/replay/Replays.ts'
import { iso } from '../orgs/shapes.ts'
import {
  enabled,
  type Holder,
  holderOf,
  subscriptionOf,
  type WebhookOperations,
  type WebhookServices,
  webhookErrors,
  webhookId,
  webhooksRead,
  webhooksWrite,
} from './access.ts'
import { parseEnvelope } from './shapes.ts'

const path = '/v1/webhooks/{id}/replay'
const params = { id: webhookId }

const dryRun = s.optional(
  s.boolean({ description: 'Count what would be sent, and show the first five events; send nothing.' }),
)
const block = s.integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const replayBody = s.union([
  s.object({ fromBlock: block, toBlock: block, dryRun }),
  s.object({
    failedSince: s.text({ format: 'date-time', description: 'Events given up since then.' }),
    dryRun,
  }),
])

const started = {
  id: s.text(),
  subscriptionId: s.text(),
  status: s.oneOf(replayStatuses, {
    description: '`matching`: still looking for events; `sending`: all are found; `ended`: by its owner.',
  }),
  fromBlock: s.optional(s.count),
  toBlock: s.optional(s.count),
  failedSince: s.optional(s.timestamp),
  nextBlock: s.optional(s.integer({ minimum: 0, description: 'First block not looked through yet.' })),
  events: s.integer({ minimum: 0, description: 'Found so far.' }),
  openEvents: s.integer({ minimum: 0, description: 'Of those, neither taken nor given up yet.' }),
  createdAt: s.timestamp,
  endedAt: s.optional(s.timestamp),
}
export const replay = s.named('WebhookReplay', started)
const rehearsal = s.named('WebhookReplayDryRun', {
  dryRun: s.literal(true),
  events: s.integer({ minimum: 0, description: 'How many would be sent.' }),
  countedToBlock: s.optional(s.integer({ minimum: 0, description: 'The last block that was counted.' })),
  isComplete: s.boolean({
    description: 'False when the range took too long to count: it is counted in part.',
  }),
  envelopes: s.array(s.foreign('What would be sent.'), { maxItems: 5 }),
})

/** The common part of the two paths that start a replay. */
export const replayStart = {
  method: 'POST',
  summary: 'Send events of a range of blocks, or those that were given up, once more.',
  description:
    'Under the ids they have, by the present filters, in the order of the chain and in a lane of their own: `meta.replay` names the replay, and there is no `meta.sequence`. Blocks that are not final are sent once they are.',
  body: replayBody,
  response: s.shown<s.Static<typeof replay> | s.Static<typeof rehearsal>>(s.union([replay, rehearsal])),
  present: (result: StartedReplay) =>
    result.rehearsed ? presentRehearsal(result.rehearsed) : presentProgress(result.begun),
} as const

export const replayErrors = ['coverage_incomplete', 'replay_under_way'] as const

type StartedReplay =
  | { readonly rehearsed: Rehearsal; readonly begun?: never }
  | { readonly rehearsed?: never; readonly begun: Progress }

/** Starts a replay of an owner's subscription, or rehearses it. */
export async function startReplay(
  operations: WebhookOperations,
  holder: Holder,
  id: string,
  body: s.Static<typeof replayBody>,
  signal: AbortSignal,
): Promise<StartedReplay> {
  const subscription = await subscriptionOf(operations, holder, id)
  const of = 'failedSince' in body ? failedOf(body.failedSince) : blocksOf(body)
  return body.dryRun
    ? { rehearsed: await operations.replays.rehearse(subscription, of, signal) }
    : { begun: await operations.replays.start(subscription, of, signal) }
}

/** @throws ApiError webhook_not_found, replay_not_found */
export async function replayOf(operations: WebhookOperations, holder: Holder, id: string): Promise<Progress> {
  await subscriptionOf(operations, holder, id)
  return found(await operations.replays.find(id))
}

/** @throws ApiError webhook_not_found, replay_not_found */
export async function endReplay(
  operations: WebhookOperations,
  holder: Holder,
  id: string,
): Promise<Progress> {
  await subscriptionOf(operations, holder, id)
  return found(await operations.replays.end(id))
}

export const startReplayEndpoint = command({
  ...replayStart,
  path,
  params,
  access: webhooksWrite,
  errors: [...webhookErrors, ...replayErrors],
  run: ({ path: { id }, caller, body, signal }, services: WebhookServices) =>
    startReplay(enabled(services), holderOf(caller), id, body, signal),
})

export const readReplayEndpoint = endpoint({
  path,
  summary: 'How far the newest replay has come.',
  params,
  chain: 'none',
  access: webhooksRead,
  errors: [...webhookErrors, 'replay_not_found'],
  response: replay,
  read: ({ path: { id }, caller }, services: WebhookServices) =>
    replayOf(enabled(services), holderOf(caller), id),
  present: presentProgress,
  cache: 'none',
})

export const endReplayEndpoint = command({
  path,
  method: 'DELETE',
  summary: 'End the replay that is under way; what it has queued is not sent.',
  params,
  access: webhooksWrite,
  errors: [...webhookErrors, 'replay_not_found'],
  response: replay,
  run: ({ path: { id }, caller }, services: WebhookServices) =>
    endReplay(enabled(services), holderOf(caller), id),
  present: presentProgress,
})

function found(progress: Progress | null): Progress {
  if (!progress) throw new ApiError('replay_not_found')
  return progress
}

/** @throws ApiError body_invalid */
function blocksOf({ fromBlock: from, toBlock: to }: { fromBlock: number; toBlock: number }): ReplayOf {
  if (to < from) throw bodyProblem('toBlock', 'lies before `fromBlock`')
  if (to - from >= REPLAY_BLOCKS_MAX)
    throw bodyProblem('toBlock', `is more than ${REPLAY_BLOCKS_MAX} blocks away from \`fromBlock\``)
  return { kind: 'blocks', from, to }
}

/** @throws ApiError body_invalid */
function failedOf(text: string): ReplayOf {
  const since = new Date(text)
  if (Number.isNaN(since.getTime())) throw bodyProblem('failedSince', 'is not a moment')
  return { kind: 'failed', since }
}

export function presentProgress({ replay: one, open }: Progress): s.Static<typeof replay> {
  const { of } = one
  return {
    id: one.id,
    subscriptionId: one.webhookId,
    status: one.status,
    ...(of.kind === 'blocks'
      ? { fromBlock: of.from, toBlock: of.to, nextBlock: one.next ?? of.from }
      : { failedSince: iso(of.since) }),
    events: one.messages,
    openEvents: open,
    createdAt: iso(one.createdAt),
    ...(one.endedAt && { endedAt: iso(one.endedAt) }),
  }
}

const presentRehearsal = ({ count, envelopes, countedTo, isComplete }: Rehearsal) => ({
  dryRun: true as const,
  events: count,
  ...(countedTo !== null && { countedToBlock: Math.max(0, countedTo) }),
  isComplete,
  envelopes: envelopes.map(parseEnvelope),
})
