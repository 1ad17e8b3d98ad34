/** A list that goes on at the press of a button. */
import type { MoneyPage } from '../../model/money.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import { button, element } from '../element.ts'
import { table } from '../table.ts'
import { meaning } from './parts.ts'

export interface Listed<Item> {
  readonly columns: readonly string[]
  readonly row: (item: Item) => readonly (string | Node)[]
  /** Said where there are none. */
  readonly none: string
  /** The page behind a cursor; null for the first. @throws RequestFailure */
  readonly read: (cursor: string | null) => Promise<MoneyPage<Item>>
}

export async function listView<Item>({ columns, row, none, read }: Listed<Item>): Promise<HTMLElement> {
  let { data, nextCursor } = await read(null)
  if (data.length === 0) return meaning(none)
  const shown = table(columns, data.map(row))
  const body = shown.querySelector('tbody')
  const problem = element('p', { class: 'problem', role: 'alert', hidden: true })
  const more = button('Show more', () => void add(), { hidden: nextCursor === null })
  const add = async () => {
    more.disabled = true
    problem.hidden = true
    try {
      ;({ data, nextCursor } = await read(nextCursor))
      body?.append(
        ...data.map((item) => element('tr', {}, ...row(item).map((cell) => element('td', {}, cell)))),
      )
      more.hidden = nextCursor === null
    } catch (error) {
      problem.textContent = error instanceof RequestFailure ? error.message : 'This could not be shown.'
      problem.hidden = false
    } finally {
      more.disabled = false
    }
  }
  return element('div', {}, shown, element('div', { class: 'row' }, more, problem))
}
