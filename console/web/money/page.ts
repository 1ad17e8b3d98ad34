/** The operator's page of money: the wallet, what came in, what is owed, reviews, income and cost. */
import type { LinkFields } from '../../model/link.ts'
import { type Money, MoneyClient, moneyAlarms } from '../../model/money.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import type { Alarm } from '../../model/wire.ts'
import { heldKey } from '../account/heldKey.ts'
import { keyView } from '../account/keyView.ts'
import { origin, readStatus } from '../api.ts'
import { button, element } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { card } from '../parts/card.ts'
import type { StatusSample } from '../statusFeed.ts'
import { wireTabs } from '../tabs.ts'
import { booksView } from './booksView.ts'
import { paymentsView, payoutsView, reviewsView } from './lists.ts'
import { type MoneyContext, meaning, worded } from './parts.ts'
import { walletView } from './walletView.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  const view = new MoneyView(host, frame)
  return {
    show: (fields) => view.show(fields),
    linked: () => view.linked(),
    told: (sample) => view.told(sample),
  }
}

const client = new MoneyClient(origin)

type Draw = (money: Money, context: MoneyContext) => Promise<HTMLElement[]> | HTMLElement[]

type Part = readonly [name: string, title: string, draw: Draw]

const wallet: Part = ['wallet', 'Wallet', walletView]
/** Parts of the page, by their names in links. */
const parts: readonly Part[] = [
  wallet,
  ['payments', 'Payments', (_, context) => paymentsView(client, context)],
  ['payouts', 'Refunds and rewards', (_, context) => payoutsView(client, context)],
  ['reviews', 'Reviews', (_, context) => reviewsView(client, context)],
  ['books', 'Income and cost', (money, context) => booksView(client, money, context)],
]
const idOf = (name: string): string => `money-${name}`

class MoneyView {
  readonly #frame: PageFrame
  readonly #alarms = element('ul', { class: 'alarms', role: 'alert', hidden: true })
  readonly #notes = element('ul', { class: 'notes warnings', hidden: true })
  readonly #tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Money', hidden: true })
  /** In the place of all else: who may read this, or what went wrong. */
  readonly #instead = element('div', { class: 'instead' })
  readonly #panels: ReadonlyMap<string, HTMLElement>
  readonly #select: (id: string) => void
  #part = 'wallet'
  /** Narrows the part; empty for all of it. */
  #only = ''
  /** Its reader is the operator. */
  #isRead = false
  /** Codes of alarms that hold. */
  #codes = ''
  /** Ends what is asked for a part that is shown no more. */
  #asking = new AbortController()

  constructor(host: HTMLElement, frame: PageFrame) {
    this.#frame = frame
    this.#panels = new Map(parts.map(([name]) => [name, panelOf(name)]))
    this.#tabs.append(...parts.map(([name, title]) => tabOf(name, title)))
    host.replaceChildren(this.#alarms, this.#notes, this.#tabs, this.#instead, ...this.#panels.values())
    this.#select = wireTabs(
      parts.map(([name]) => idOf(name)),
      (id) => this.#selected(id),
    )
  }

  async show({ part, only }: LinkFields): Promise<void> {
    const asked = parts.find(([name]) => name === part)?.[0]
    this.#part = asked ?? this.#part
    this.#only = only ?? ''
    this.#select(idOf(this.#part))
    await this.#draw()
  }

  linked(): LinkFields {
    return { part: this.#part, ...(this.#only !== '' && { only: this.#only }) }
  }

  /** The page's own reports tell strangers no reasons: those are asked for with the key. */
  told({ report }: StatusSample): void {
    const codes = moneyAlarms(report?.alarms ?? []).map(({ code }) => code)
    if (!report || codes.join() === this.#codes) return
    this.#codes = codes.join()
    if (this.#isRead) void this.#readAlarms()
  }

  async #readAlarms(): Promise<void> {
    const report = await readStatus(this.#asking.signal, heldKey()).catch(() => null)
    if (!report) return
    const found = moneyAlarms(report.alarms)
    this.#alarms.replaceChildren(...found.map(alarmOf))
    this.#alarms.hidden = found.length === 0
  }

  /** Its reader chose another part. */
  #selected(id: string): void {
    const name = parts.find(([part]) => idOf(part) === id)?.[0]
    if (name === undefined || name === this.#part) return
    this.#part = name
    this.#choose('')
  }

  #choose(only: string): void {
    this.#only = only
    this.#frame.writeLink('push')
    void this.#draw()
  }

  async #draw(): Promise<void> {
    this.#asking.abort()
    const asking = new AbortController()
    this.#asking = asking
    try {
      const money = await client.money(asking.signal)
      const [name, , draw] = parts.find(([part]) => part === this.#part) ?? wallet
      const choose = (only: string) => this.#choose(only)
      const content = await draw(money, { signal: asking.signal, only: this.#only, choose })
      if (asking.signal.aborted) return
      this.#isRead = true
      void this.#readAlarms()
      this.#instead.replaceChildren()
      this.#tabs.hidden = false
      const notes = notesOf(money)
      this.#notes.replaceChildren(...notes)
      this.#notes.hidden = notes.length === 0
      this.#panels.get(name)?.replaceChildren(...content)
    } catch (error) {
      if (!asking.signal.aborted) this.#refused(error)
    }
  }

  #refused(error: unknown): void {
    const again = () => this.#draw()
    const isForOthers = error instanceof RequestFailure && (error.status === 401 || error.status === 403)
    this.#tabs.hidden = isForOthers || this.#tabs.hidden
    this.#isRead = false
    for (const told of [this.#alarms, this.#notes]) told.hidden = true
    for (const panel of this.#panels.values()) panel.replaceChildren()
    this.#instead.replaceChildren(
      ...(isForOthers
        ? [forOperator(error), keyView(again)]
        : [
            element(
              'p',
              { class: 'empty' },
              error instanceof RequestFailure ? error.message : 'This page could not be shown.',
              ' ',
              button('Try again', () => void again()),
            ),
          ]),
    )
  }
}

const tabOf = (name: string, title: string): HTMLElement =>
  element(
    'button',
    { type: 'button', role: 'tab', id: `tab-${idOf(name)}`, 'aria-controls': `panel-${idOf(name)}` },
    title,
  )

const panelOf = (name: string): HTMLElement =>
  element('div', {
    id: `panel-${idOf(name)}`,
    class: 'part',
    role: 'tabpanel',
    'aria-labelledby': `tab-${idOf(name)}`,
    hidden: true,
  })

const forOperator = ({ message }: RequestFailure): HTMLElement =>
  card(
    'For the operator',
    meaning(
      'Who pays, and how much, is shown at the machine of the program and to keys with the scope ',
      element('code', {}, '*'),
      '. Make one there, and use it below: ',
      element('code', { class: 'command' }, "millrace keys create --name operator --scopes '*'"),
    ),
    element('p', { class: 'problem', role: 'alert' }, message),
  )

function notesOf({ wallet: held, payouts: { pause }, sellingProblem }: Money): readonly HTMLElement[] {
  return [
    held?.paused
      ? `The wallet stands since ${held.paused}: ${ending(held.pauseReason ?? '', 'wallet')}`
      : null,
    held?.awaitsReconciliation
      ? 'The database was restored: the wallet pays once what it does not know of has ended.'
      : null,
    pause ? `Refunds and rewards wait since ${pause.since}: ${ending(pause.reason, 'payments')}` : null,
    sellingProblem === null
      ? null
      : `Nothing is sold: ${sellingProblem}. \`docs/payments.md\` says how to name a payee and a key for refunds.`,
  ].flatMap((note) => (note === null ? [] : [element('li', {}, ...worded(note))]))
}

/** A reason that names a command says itself what ends it. */
const ending = (reason: string, group: 'wallet' | 'payments'): string =>
  reason.includes('`millrace ') ? `${reason}.` : `${reason}. \`millrace ${group} resume\` ends that.`

const alarmOf = ({ chainId, code, problem, since }: Alarm): HTMLElement =>
  element(
    'li',
    {},
    element('strong', {}, ...worded(problem)),
    element('span', { class: 'since' }, `${code} on chain ${chainId}, since ${since}`),
  )
