/** The webhooks page: subscriptions of an organization, their attempts, retries and replays. */
import { AccountClient, type Org } from '../../model/AccountClient.ts'
import type { LinkFields } from '../../model/link.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import { type Webhook, WebhookClient } from '../../model/WebhookClient.ts'
import { origin } from '../api.ts'
import { button, element } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { card } from '../parts/card.ts'
import { table } from '../table.ts'
import { subscriptionView } from './subscriptionView.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  const view = new WebhooksView(host, frame)
  return { show: (fields) => view.show(fields), linked: () => view.linked() }
}

class WebhooksView {
  readonly #host: HTMLElement
  readonly #frame: PageFrame
  readonly #client = new AccountClient(origin)
  #orgId: string | null = null
  /** The subscription that is shown whole. */
  #id: string | null = null

  constructor(host: HTMLElement, frame: PageFrame) {
    this.#host = host
    this.#frame = frame
  }

  async show({ org, webhook }: LinkFields): Promise<void> {
    this.#orgId = org ?? this.#orgId
    this.#id = webhook ?? this.#id
    await this.#draw()
  }

  linked(): LinkFields {
    return {
      ...(this.#orgId !== null && { org: this.#orgId }),
      ...(this.#id !== null && { webhook: this.#id }),
    }
  }

  async #draw(): Promise<void> {
    try {
      this.#host.replaceChildren(...(await this.#content()))
    } catch (error) {
      const text = error instanceof RequestFailure ? error.message : 'This page could not be shown.'
      const again = button('Try again', () => void this.#draw())
      this.#host.replaceChildren(element('p', { class: 'empty' }, text, ' ', again))
    }
  }

  async #content(): Promise<HTMLElement[]> {
    if (!(await this.#client.me()))
      return [element('p', { class: 'empty' }, 'Sign in on the page Account to see your webhooks.')]
    const orgs = await this.#client.list<Org>('v1/orgs')
    const org = orgs.find(({ id }) => id === this.#orgId) ?? orgs[0]
    if (!org) return [element('p', { class: 'empty' }, 'You belong to no organization yet.')]
    this.#orgId = org.id
    const client = new WebhookClient(this.#client, org.id)
    const found = await client.list()
    const shown = found.find(({ id }) => id === this.#id)
    const redraw = () => this.#draw()
    const mayManage = org.role !== 'member'
    return [
      ...(orgs.length > 1 ? [this.#organizations(orgs, org)] : []),
      this.#list(found, shown),
      ...(shown ? await subscriptionView({ client, mayManage, redraw }, shown) : []),
    ]
  }

  #choose(orgId: string | null, id: string | null): void {
    this.#orgId = orgId
    this.#id = id
    this.#frame.writeLink('push')
    void this.#draw()
  }

  #organizations(orgs: readonly Org[], shown: Org): HTMLElement {
    const choices = orgs.map(({ id, name }) =>
      button(name, () => this.#choose(id, null), { 'aria-pressed': `${id === shown.id}` }),
    )
    return card('Organization', element('div', { class: 'row choices' }, ...choices))
  }

  #list(found: readonly Webhook[], shown: Webhook | undefined): HTMLElement {
    if (found.length === 0)
      return card(
        'Webhooks',
        element(
          'p',
          { class: 'meaning' },
          'None yet: POST /v1/webhooks makes one, `millrace listen` tries it.',
        ),
      )
    const rows = found.map((one) => [
      button(one.eventType, () => this.#choose(this.#orgId, one.id), {
        'aria-pressed': `${one.id === shown?.id}`,
        title: one.id,
      }),
      `${one.chainId}`,
      one.disabledReason === undefined ? one.status : `${one.status} (${one.disabledReason})`,
      one.destination.url,
      `${one.failureCount}`,
      one.lastDeliveryAt ?? '',
    ])
    return card(
      'Webhooks',
      table(['Event', 'Chain', 'Status', 'To', 'Failures in a row', 'Last taken'], rows),
    )
  }
}
