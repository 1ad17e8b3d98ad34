/** A plain table, which scrolls sideways in a narrow window. */
import { element } from './element.ts'

export function table(titles: readonly string[], rows: readonly (readonly (string | Node)[])[]): HTMLElement {
  const heads = titles.map((title) => element('th', { scope: 'col' }, title))
  const lines = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell))))
  const body = [element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...lines)]
  return element('div', { class: 'table-frame' }, element('table', {}, ...body))
}
