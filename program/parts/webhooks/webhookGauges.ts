/** Gauges of webhooks in /metrics. */
import type { PartGauge } from '../part.ts'
import type { WebhookWatch } from './WebhookWatch.ts'

/** @param watch null where there are none: then no gauge has a series */
export const webhookGauges = (watch: Pick<WebhookWatch, 'report'> | null): readonly PartGauge[] => [
  {
    name: 'webhook_lag_blocks',
    help: 'Blocks held whose events were not looked for yet.',
    labelNames: ['chain', 'stream'],
    collect: async (to) => {
      for (const { chainId, stream, lagBlocks } of (await watch?.report())?.chains ?? [])
        to.set({ chain: `${chainId}`, stream }, lagBlocks)
    },
  },
  {
    name: 'webhook_pending',
    help: 'Events to be sent, by what they wait for.',
    labelNames: ['state'],
    collect: async (to) => {
      for (const [state, count] of Object.entries((await watch?.report())?.pending ?? {}))
        to.set({ state }, count)
    },
  },
]
