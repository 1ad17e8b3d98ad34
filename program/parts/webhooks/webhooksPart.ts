/** Webhooks; none where the operator wants none. */
import type { WebhookOperations } from '#api/routes/webhooks/access.ts'
import { type Base, definePart, type Part } from '../part.ts'
import { type OpenedWebhooks, openWebhooks } from './openWebhooks.ts'
import { stalledAlarms } from './stalledAlarms.ts'
import { webhookGauges } from './webhookGauges.ts'

export interface WebhooksPart extends Part<{ readonly webhooks: WebhookOperations | null }> {
  /** How they stand; null where there are none. */
  readonly watch: OpenedWebhooks['watch'] | null
}

/** A piece that failed is tried again each second, and smaller each time: down to one block by then. */
const PIECE_MS = 60_000

export const webhooksPart = definePart({
  name: 'webhooks',
  alarms: [{ code: 'webhooks_stalled', passesMs: PIECE_MS }],
  open: openWebhooksPart,
})

async function openWebhooksPart(base: Base): Promise<WebhooksPart> {
  const { config, program, secrets, chains, tokenNames, egress, runtime, log } = base
  const opened = openWebhooks({
    mode: config.webhooks,
    postgres: program.engines.postgres,
    sealer: await secrets.sealer(),
    chains,
    tokenNames,
    holder: program.holder,
    egress,
    runtime,
    log,
  })
  if (!opened) return { services: { webhooks: null }, watch: null, gauges: webhookGauges(null) }
  const { operations, notes, watch, problemsOf, run } = opened
  return {
    services: { webhooks: operations },
    notes,
    watch,
    problems: () => [...chains.keys()].flatMap((chainId) => stalledAlarms(chainId, problemsOf(chainId))),
    gauges: webhookGauges(watch),
    run: ({ shutdown }) => run(shutdown),
  }
}
