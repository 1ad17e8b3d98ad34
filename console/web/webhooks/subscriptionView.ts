/** One subscription: what can be done with it, its replay, and its attempts. */
import {
  type Delivery,
  outcomeText,
  type Replay,
  replayAsked,
  replayText,
  type Webhook,
  type WebhookClient,
} from '../../model/WebhookClient.ts'
import { dangerButton, field, form } from '../account/parts.ts'
import { element } from '../element.ts'
import { card } from '../parts/card.ts'
import { table } from '../table.ts'

export interface WebhookContext {
  readonly client: WebhookClient
  /** An action that members may not take is not offered. */
  readonly mayManage: boolean
  readonly redraw: () => Promise<void>
}

export async function subscriptionView(context: WebhookContext, webhook: Webhook): Promise<HTMLElement[]> {
  const { client } = context
  const [deliveries, replay] = await Promise.all([client.deliveries(webhook.id), client.replay(webhook.id)])
  return [
    stateView(context, webhook),
    replayView(context, webhook, replay),
    deliveriesView(context, webhook, deliveries),
  ]
}

function stateView({ client, mayManage, redraw }: WebhookContext, webhook: Webhook): HTMLElement {
  const { id, status, eventType, activeFromBlock } = webhook
  const told = element('p', { role: 'status', class: 'meaning' })
  const ping = async () => {
    told.textContent = outcomeText(await client.ping(id))
  }
  const turn = (to: Webhook['status']) => async () => {
    await client.turn(id, to)
    await redraw()
  }
  const end = async () => {
    await client.end(id)
    await redraw()
  }
  const actions = mayManage
    ? [
        form('Ping', ping),
        status === 'active' ? form('Pause', turn('paused')) : form('Activate', turn('active')),
        dangerButton('Delete', 'End this subscription? Nothing more is sent.', end),
      ]
    : []
  return card(
    eventType,
    element('p', {}, element('code', {}, id), ` has events from block ${activeFromBlock} on.`),
    element('div', { class: 'row' }, ...actions),
    told,
  )
}

function replayView(
  { client, mayManage, redraw }: WebhookContext,
  { id }: Webhook,
  replay: Replay | null,
): HTMLElement {
  const state = element('p', { id: 'replay' }, replay ? replayText(replay) : 'Nothing was replayed yet.')
  if (!mayManage) return card('Replay', state)
  const [from, to, since] = [field('From block', {}), field('to', {}), field('or failed since', {})]
  const asked = () => {
    const of = replayAsked(from.input.value, to.input.value, since.input.value)
    if (!of) throw new Error('Name both blocks, or a moment such as 2026-01-31T12:00Z.')
    return of
  }
  const told = element('p', { role: 'status', class: 'meaning' })
  const count = async () => {
    const { events, isComplete, countedToBlock } = await client.rehearse(id, asked())
    told.textContent = `${events} events would be sent${isComplete ? '' : ` up to block ${countedToBlock ?? 0}: the rest was not counted`}.`
  }
  const start = async () => {
    await client.startReplay(id, asked())
    await redraw()
  }
  const end = async () => {
    await client.endReplay(id)
    await redraw()
  }
  const isOpen = replay?.status === 'matching' || replay?.status === 'sending'
  return card(
    'Replay',
    state,
    element('div', { class: 'row' }, from.label, to.label, since.label),
    element(
      'div',
      { class: 'row' },
      form('Count', count),
      form('Replay', start),
      form('Look again', redraw),
      isOpen ? dangerButton('End', 'End this replay? What it has queued is not sent.', end) : null,
    ),
    told,
  )
}

function deliveriesView(
  { client, mayManage, redraw }: WebhookContext,
  { id }: Webhook,
  deliveries: readonly Delivery[],
): HTMLElement {
  const envelope = element('pre', { class: 'envelope', hidden: true })
  const look = (deliveryId: string) => async () => {
    const detail = await client.envelope(id, deliveryId)
    envelope.textContent = JSON.stringify(detail.envelope, null, 2)
    envelope.hidden = false
  }
  const retry = (deliveryId: string) => async () => {
    await client.retry(id, deliveryId)
    await redraw()
  }
  const rows = deliveries.map((one) => [
    one.createdAt,
    element('code', { title: one.eventId }, `${one.eventId.slice(0, 14)}…`),
    `${one.attempt}`,
    one.status,
    one.error ?? `${one.responseStatus ?? ''}`,
    one.responseMs === undefined ? '' : `${one.responseMs} ms`,
    form('Envelope', look(one.id)),
    mayManage && one.status !== 'pending' ? form('Retry', retry(one.id)) : '',
  ])
  const columns = ['Begun', 'Event', 'Attempt', 'Status', 'Answer', 'Took', '', '']
  const list =
    rows.length > 0 ? table(columns, rows) : element('p', { class: 'meaning' }, 'Nothing was sent yet.')
  return card('Attempts, the newest first', list, envelope)
}
