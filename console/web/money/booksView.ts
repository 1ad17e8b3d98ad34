/** Income and cost by day, and what the last look at the books found. */
import {
  amountText,
  type BooksLook,
  barsOf,
  type DayBars,
  type Ledger,
  ledgerOf,
  type Money,
  type MoneyClient,
  type MoneyKind,
} from '../../model/money.ts'
import { element, svg } from '../element.ts'
import { badge } from '../parts/badge.ts'
import { card } from '../parts/card.ts'
import { fact } from '../parts/fact.ts'
import { table } from '../table.ts'
import { choices, type MoneyContext, meaning } from './parts.ts'

const spans = [
  ['7', '7 days'],
  ['', '30 days'],
  ['90', '90 days'],
] as const
const DAYS_DEFAULT = '30'

const kindWords = {
  payment: 'paid by callers',
  reversed: 'taken back by the chain',
  refund: 'refunded',
  reward: 'rewards of reviews',
  cost: 'paid to sellers',
  fee: 'fees of chains',
} as const satisfies Readonly<Record<MoneyKind, string>>

export async function booksView(
  client: MoneyClient,
  { books }: Pick<Money, 'books'>,
  context: MoneyContext,
): Promise<HTMLElement[]> {
  const days = spans.find(([value]) => value === context.only)?.[0] || DAYS_DEFAULT
  const ledger = ledgerOf(await client.days(Number(days), context.signal))
  return [incomeCard(ledger, days, context), lookCard(books), tableCard(ledger)]
}

function incomeCard(ledger: Ledger, days: string, context: MoneyContext): HTMLElement {
  const { all, byKind, unknown } = ledger
  const told = dollarsOf(ledger)
  const isEmpty = byKind.length === 0
  return card(
    'Income and cost',
    choices('How many days', spans, { ...context, only: days === DAYS_DEFAULT ? '' : days }),
    isEmpty ? meaning(`Nothing moved in ${days} days.`) : null,
    ...(isEmpty
      ? []
      : [
          element(
            'dl',
            { class: 'facts' },
            fact('Income', told(all.income), 'dollars that callers paid'),
            fact('Cost', told(all.cost), 'dollars to sellers, payers and chains'),
            fact('Left over', told(all.income - all.cost), `dollars in ${days} days`),
          ),
          chart(ledger),
          table(
            ['What', 'Movements', 'Dollars'],
            byKind.map(({ kind, amount, count }) => [
              kindWords[kind],
              figure(count.toLocaleString('en-US')),
              figure(told(amount)),
            ]),
          ),
        ]),
    unknown.length > 0
      ? meaning(`In no sum: ${unknown.length} lines of tokens whose decimals nobody knows.`)
      : null,
  )
}

const dollarsOf =
  ({ decimals }: Ledger) =>
  (units: bigint): string =>
    amountText({ amount: `${units}`, decimals })

const figure = (text: string): HTMLElement => element('span', { class: 'figure' }, text)

/** Pixels of the drawing, which its place stretches. */
const HEIGHT = 160
const STEP = 12
const BAR = 8

/** Income above the line, cost below it; a pointer that rests on a day tells its numbers. */
function chart(ledger: Ledger): HTMLElement {
  const bars = barsOf(ledger)
  const told = dollarsOf(ledger)
  const titles = new Map(
    ledger.days.map(({ day, income, cost }) => [day, `${day}: income ${told(income)}, cost ${told(cost)}`]),
  )
  const width = bars.length * STEP
  const view = { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: 'none' }
  const drawn = bars.map((bar, index) => dayOf(bar, index, titles.get(bar.day) ?? bar.day))
  const line = svg('line', { class: 'zero', x1: 0, x2: width, y1: HEIGHT / 2, y2: HEIGHT / 2 })
  return element(
    'figure',
    { class: 'money-chart' },
    svg('svg', { ...view, role: 'img', 'aria-label': 'Income and cost a day' }, ...drawn, line),
    element(
      'figcaption',
      {},
      element('span', {}, bars[0]?.day ?? ''),
      element('span', { class: 'key income' }, 'income'),
      element('span', { class: 'key cost' }, 'cost'),
      element('span', {}, bars.at(-1)?.day ?? ''),
    ),
  )
}

function dayOf({ up, down }: DayBars, index: number, title: string): SVGElement {
  const half = HEIGHT / 2
  const [above, below] = [up, down].map((permille) => (permille * half) / 1_000)
  const place = { x: index * STEP + (STEP - BAR) / 2, width: BAR }
  return svg(
    'g',
    {},
    svg('title', {}, title),
    // The whole day answers to a pointer, however small its bars are.
    svg('rect', { class: 'day', x: index * STEP, width: STEP, y: 0, height: HEIGHT }),
    svg('rect', { class: 'income', ...place, y: half - (above ?? 0), height: above ?? 0 }),
    svg('rect', { class: 'cost', ...place, y: half, height: below ?? 0 }),
  )
}

function tableCard(ledger: Ledger): HTMLElement {
  const told = dollarsOf(ledger)
  const moved = ledger.days.filter(({ income, cost }) => income !== 0n || cost !== 0n).toReversed()
  const rows = moved.map(({ day, income, cost }) => [
    element('time', { datetime: day, class: 'figure' }, day),
    ...[income, cost, income - cost].map((units) => figure(told(units))),
  ])
  return card(
    'By day',
    rows.length > 0
      ? table(['Day (UTC)', 'Income', 'Cost', 'Left over'], rows)
      : meaning('No day has a movement.'),
  )
}

/** The findings of this program since its start. */
function lookCard(books: BooksLook | null): HTMLElement {
  const check = element('code', {}, 'millrace books check')
  if (!books)
    return card(
      'Books',
      meaning('This program does not compare its books: nothing is sold. ', check, ' does.'),
    )
  const { lookedAt, chainsAskedAt, differing, unchecked } = books
  if (lookedAt === null) return card('Books', meaning('They are compared a minute after the start.'))
  const state =
    differing > 0
      ? badge(`${differing} differences`, 'bad')
      : unchecked.length > 0
        ? badge('not checked whole', 'busy')
        : badge('every unit is accounted for', 'good')
  const chains = chainsAskedAt === null ? 'chains not asked yet' : `chains asked ${chainsAskedAt}`
  return card(
    'Books',
    element('p', { class: 'headline' }, state, element('span', {}, `compared ${lookedAt}, ${chains}`)),
    differing > 0 ? meaning(check, ' names each.') : null,
    unchecked.length > 0
      ? element('ul', { class: 'unchecked' }, ...unchecked.map((what) => element('li', {}, what)))
      : null,
  )
}
