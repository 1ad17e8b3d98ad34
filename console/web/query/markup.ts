/** The query page before anything was asked. */
import { element } from '../element.ts'

/** Rows a run may give. */
const rowLimits = ['100', '1000', '10000']
export const ROW_LIMIT_FIRST = '1000'

export const markup = (): HTMLElement[] => [
  sidebar(),
  element(
    'div',
    { class: 'work' },
    toolbar(),
    signatures(),
    element('div', { class: 'editor', id: 'editor' }),
    element('hr', {
      class: 'splitter',
      id: 'splitter',
      tabindex: 0,
      'aria-valuenow': 0,
      'aria-label': 'Height of the editor',
    }),
    result(),
  ),
]

function sidebar(): HTMLElement {
  const filter = element('input', {
    type: 'search',
    id: 'schema-filter',
    placeholder: 'Find a table or column',
    'aria-label': 'Find a table or column',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const examples = element(
    'section',
    { 'aria-labelledby': 'examples-title' },
    element('h2', { id: 'examples-title' }, 'Examples'),
    element('ul', { class: 'examples', id: 'examples' }),
  )
  const tables = element(
    'section',
    { 'aria-labelledby': 'tables-title' },
    element('h2', { id: 'tables-title' }, 'Tables'),
    filter,
    element('div', { id: 'relations' }),
  )
  return element(
    'details',
    // A narrow screen shows the query first.
    { class: 'sidebar', id: 'sidebar', open: matchMedia('(min-width: 52rem)').matches },
    element('summary', {}, 'Examples and tables'),
    element('div', { class: 'sidebar-body' }, examples, tables),
  )
}

function toolbar(): HTMLElement {
  const runKey = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ ⏎' : 'Ctrl ⏎'
  return element(
    'div',
    { class: 'toolbar', role: 'toolbar', 'aria-label': 'Query' },
    element(
      'fieldset',
      { class: 'switch', id: 'engine' },
      element('legend', {}, 'Engine'),
      engineChoice('postgres', 'Postgres', 'Follows the head of the chain', true),
      engineChoice('clickhouse', 'ClickHouse', 'Follows what is final; has the analytics tables', false),
    ),
    press('run', { class: 'primary' }, 'Run ', element('kbd', { id: 'run-key' }, runKey)),
    press('explain', { title: 'Plan and price, without running it' }, 'Explain'),
    element(
      'span',
      { class: 'joined' },
      press('live', { 'aria-pressed': 'false', title: 'Follow the chain' }, 'Live'),
      element(
        'select',
        { id: 'live-mode', 'aria-label': 'Live shows' },
        element('option', { value: 'blocks', selected: true }, 'new rows'),
        element('option', { value: 'snapshot' }, 'whole result'),
      ),
    ),
    press('stop', { disabled: true }, 'Stop'),
    element('label', { class: 'limit' }, 'Rows ', limitChoice()),
    press('share', { class: 'quiet' }, 'Copy link'),
  )
}

/** Above the editor: an event's table is named there before the query names it. */
const signatures = (): HTMLElement =>
  element(
    'div',
    { class: 'signature-bar' },
    element('label', { for: 'signature' }, 'Events'),
    element('ul', { id: 'signatures' }),
    element('input', {
      id: 'signature',
      type: 'search',
      list: 'known-events',
      placeholder: 'Transfer(address indexed from, address indexed to, uint256 value)',
      title: 'The signature of an event or function; it becomes a table of its name',
      autocomplete: 'off',
      spellcheck: 'false',
    }),
    element('datalist', { id: 'known-events' }),
  )

function result(): HTMLElement {
  return element(
    'section',
    { class: 'result', 'aria-label': 'Result' },
    element(
      'div',
      { class: 'result-bar' },
      element(
        'div',
        { class: 'tabs', role: 'tablist', 'aria-label': 'Result as' },
        press('tab-table', { role: 'tab', 'aria-controls': 'panel-table' }, 'Table'),
        press('tab-chart', { role: 'tab', 'aria-controls': 'panel-chart' }, 'Chart'),
        press('tab-explain', { role: 'tab', 'aria-controls': 'panel-explain' }, 'Explain'),
      ),
      element('p', { class: 'summary', id: 'summary', role: 'status' }),
      press('download-csv', { class: 'quiet', disabled: true }, 'CSV'),
      press('download-json', { class: 'quiet', disabled: true }, 'JSON'),
    ),
    element('div', { class: 'failure', id: 'failure', role: 'alert', hidden: true }),
    panel('table', false),
    panel('chart', true),
    panel('explain', true),
  )
}

const press = (
  id: string,
  attributes: Readonly<Record<string, string | boolean>>,
  ...children: readonly (string | Node)[]
): HTMLElement => element('button', { type: 'button', id, ...attributes }, ...children)

const engineChoice = (value: string, name: string, title: string, checked: boolean): HTMLElement =>
  element(
    'label',
    { title },
    element('input', { type: 'radio', name: 'engine', value, checked }),
    element('span', {}, name),
  )

const limitChoice = (): HTMLElement =>
  element(
    'select',
    { id: 'limit' },
    ...rowLimits.map((rows) =>
      element(
        'option',
        { value: rows, selected: rows === ROW_LIMIT_FIRST },
        Number(rows).toLocaleString('en-US'),
      ),
    ),
  )

const panel = (name: string, hidden: boolean): HTMLElement =>
  element('div', {
    class: 'panel',
    id: `panel-${name}`,
    role: 'tabpanel',
    'aria-labelledby': `tab-${name}`,
    hidden,
  })
