/** Webhooks; none where the operator wants none. */
import type { WebhookOperations } from '#api/routes/webhooks/access.ts'
import type { Base, Part } from '../part.ts'
import { type OpenedWebhooks, openWebhooks } from './openWebhooks.ts'

export interface WebhooksPart extends Part<{ readonly webhooks: WebhookOperations | null }> {
  /** How they stand; null where there are none. */
  readonly watch: OpenedWebhooks['watch'] | null
  readonly problemsOf: OpenedWebhooks['problemsOf']
}

export async function openWebhooksPart(base: Base): Promise<WebhooksPart> {
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
  if (!opened) return { services: { webhooks: null }, watch: null, problemsOf: () => [] }
  const { operations, notes, watch, problemsOf, run } = opened
  return {
    services: { webhooks: operations },
    notes,
    watch,
    problemsOf,
    run: ({ shutdown }) => run(shutdown),
  }
}
