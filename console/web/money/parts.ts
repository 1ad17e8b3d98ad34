/** Small parts of the money page. */
import { shortAddress } from '../../model/AccountClient.ts'
import { amountText, type Payment } from '../../model/money.ts'
import { button, element } from '../element.ts'

/** The means that parts of the page are drawn with. */
export interface MoneyContext {
  readonly signal: AbortSignal
  /** Narrows the part that is shown; a link holds it. */
  readonly only: string
  /** Shows the part so, and links to that. */
  readonly choose: (only: string) => void
}

/** A figure with all of its digits, and the token it is of. */
export const amountCell = (of: Pick<Payment, 'amount' | 'decimals' | 'chainId' | 'currency'>): HTMLElement =>
  element(
    'span',
    { class: 'amount' },
    element('span', { class: 'figure' }, amountText(of)),
    element(
      'span',
      { class: 'token', title: `${of.currency} on chain ${of.chainId}` },
      `${shortAddress(of.currency)} · chain ${of.chainId}`,
    ),
  )

/** Short, and whole where a pointer rests on it. */
export const hashCell = (hash: string | null): HTMLElement =>
  hash === null
    ? element('span', { class: 'none' }, '—')
    : element('code', { title: hash }, shortAddress(hash))

/** `2026-01-31 12:00:05`, in UTC. */
export const momentCell = (iso: string): HTMLElement =>
  element('time', { datetime: iso, class: 'figure' }, iso.replace('T', ' ').replace('Z', ''))

/** Buttons of which one holds. */
export const choices = (
  label: string,
  values: readonly (readonly [value: string, text: string])[],
  { only, choose }: Pick<MoneyContext, 'only' | 'choose'>,
): HTMLElement =>
  element(
    'div',
    { class: 'row choices', role: 'group', 'aria-label': label },
    ...values.map(([value, text]) =>
      button(text, () => choose(value), { 'aria-pressed': `${value === only}` }),
    ),
  )

/** A bar of a part of a whole, in thousandths. */
export const meter = (label: string, permille: number): HTMLElement =>
  element('progress', { max: 1_000, value: permille, 'aria-label': label })

export const meaning = (...children: readonly (Node | string)[]): HTMLElement =>
  element('p', { class: 'meaning' }, ...children)

/** A sentence of the program, whose commands stand in backticks. */
export const worded = (text: string): readonly (string | HTMLElement)[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? element('code', {}, part) : part))
