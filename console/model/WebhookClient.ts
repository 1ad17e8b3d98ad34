/** Webhooks as the console shows them, below an organization. */
import type { AccountClient } from './AccountClient.ts'

export interface Webhook {
  readonly id: string
  readonly chainId: number
  readonly eventType: string
  readonly status: 'active' | 'paused' | 'disabled'
  readonly disabledReason?: string
  readonly failureCount: number
  readonly destination: { readonly type: string; readonly url: string }
  readonly activeFromBlock: number
  readonly lastDeliveryAt?: string
}

export interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly attempt: number
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly createdAt: string
  readonly responseStatus?: number
  readonly responseMs?: number
  readonly error?: string
}

export interface Tried {
  readonly delivered: boolean
  readonly responseStatus?: number
  readonly error?: string
}

export interface Replay {
  readonly id: string
  readonly status: 'matching' | 'sending' | 'finished' | 'ended'
  readonly fromBlock?: number
  readonly toBlock?: number
  readonly nextBlock?: number
  readonly failedSince?: string
  readonly events: number
  readonly openEvents: number
}

export interface Rehearsal {
  readonly dryRun: true
  readonly events: number
  readonly isComplete: boolean
  readonly countedToBlock?: number
}

export type ReplayOf =
  | { readonly fromBlock: number; readonly toBlock: number }
  | { readonly failedSince: string }

/** Attempts that the console shows of a subscription. */
const DELIVERIES_SHOWN = 25

/** Subscriptions of one organization. */
export class WebhookClient {
  readonly #client: AccountClient
  readonly #path: string

  constructor(client: AccountClient, orgId: string) {
    this.#client = client
    this.#path = `v1/orgs/${encodeURIComponent(orgId)}/webhooks`
  }

  list(): Promise<readonly Webhook[]> {
    return this.#client.list<Webhook>(this.#path)
  }

  deliveries(id: string): Promise<readonly Delivery[]> {
    return this.#client.list<Delivery>(`${this.#of(id)}/deliveries?limit=${DELIVERIES_SHOWN}`)
  }

  envelope(id: string, deliveryId: string): Promise<{ readonly envelope: object }> {
    return this.#client.ask('GET', `${this.#of(id)}/deliveries/${encodeURIComponent(deliveryId)}`)
  }

  turn(id: string, status: Webhook['status']): Promise<object> {
    return this.#client.ask('PATCH', this.#of(id), { status })
  }

  end(id: string): Promise<object> {
    return this.#client.ask('DELETE', this.#of(id))
  }

  ping(id: string): Promise<Tried> {
    return this.#client.ask('POST', `${this.#of(id)}/ping`)
  }

  retry(id: string, deliveryId: string): Promise<Tried> {
    return this.#client.ask('POST', `${this.#of(id)}/deliveries/${encodeURIComponent(deliveryId)}/retry`)
  }

  /** Null where there was none. */
  async replay(id: string): Promise<Replay | null> {
    return this.#client.ask<Replay>('GET', `${this.#of(id)}/replay`).catch(() => null)
  }

  rehearse(id: string, of: ReplayOf): Promise<Rehearsal> {
    return this.#client.ask('POST', `${this.#of(id)}/replay`, { ...of, dryRun: true })
  }

  startReplay(id: string, of: ReplayOf): Promise<Replay> {
    return this.#client.ask('POST', `${this.#of(id)}/replay`, of)
  }

  endReplay(id: string): Promise<Replay> {
    return this.#client.ask('DELETE', `${this.#of(id)}/replay`)
  }

  #of(id: string): string {
    return `${this.#path}/${encodeURIComponent(id)}`
  }
}

/** The outcome of an attempt by hand, in words. */
export const outcomeText = ({ delivered, responseStatus, error }: Tried): string =>
  delivered
    ? `Taken with ${responseStatus ?? 'success'}.`
    : (error ?? `Answered ${responseStatus ?? 'nothing'}.`)

/** How far a replay has come, in words. */
export function replayText({
  status,
  fromBlock,
  toBlock,
  nextBlock,
  failedSince,
  events,
  openEvents,
}: Replay): string {
  const what =
    failedSince === undefined ? `blocks ${fromBlock} to ${toBlock}` : `failures since ${failedSince}`
  const where = status === 'matching' && nextBlock !== undefined ? `, looked through below ${nextBlock}` : ''
  return `${status}: ${what}${where}; ${events} events, ${openEvents} open`
}

/** The replay that a form's texts ask for; null if they ask for none. */
export function replayAsked(from: string, to: string, since: string): ReplayOf | null {
  const block = (text: string): number | null => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : null)
  const [fromBlock, toBlock] = [block(from), block(to)]
  if (fromBlock !== null && toBlock !== null) return { fromBlock, toBlock }
  const moment = since.trim() === '' ? Number.NaN : Date.parse(since)
  return Number.isNaN(moment) ? null : { failedSince: new Date(moment).toISOString() }
}
