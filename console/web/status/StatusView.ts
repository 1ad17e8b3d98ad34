/**
 * The status view: where every chain stands in both stores, what was proved, and how fast it moves.
 */
import { finalityLabel } from '../../model/finalityLabel.ts'
import { blocksPerSecond, historyLabel, remember, type Sighting } from '../../model/rates.ts'
import type { Alarm, ChainStatus, HistoryStatus, Range, StatusReport, StoreStatus } from '../../model/wire.ts'
import { browserClock } from '../browserClock.ts'
import { element, svg } from '../element.ts'
import { badge, type Tone } from '../parts/badge.ts'
import { fact } from '../parts/fact.ts'
import type { StatusSample } from '../statusFeed.ts'
import { table } from '../table.ts'

const storeNames = { postgres: 'Postgres', clickhouse: 'ClickHouse' } as const
type StoreName = keyof typeof storeNames

export class StatusView {
  readonly #panel: HTMLElement
  /** Tips over time, by chain and store. */
  readonly #sightings = new Map<string, Sighting[]>()

  constructor(panel: HTMLElement) {
    this.#panel = panel
  }

  show({ report, atMs }: StatusSample): void {
    if (report) this.#remember(report, atMs)
    if (this.#panel.hidden || this.#isBeingRead()) return
    this.#panel.replaceChildren(
      ...(report ? this.#report(report) : [element('p', { class: 'empty' }, 'The program does not answer.')]),
    )
  }

  #remember({ chains }: StatusReport, atMs: number): void {
    for (const { chainId, stores } of chains)
      for (const name of ['postgres', 'clickhouse'] as const) {
        const key = `${chainId} ${name}`
        this.#sightings.set(key, remember(this.#sightings.get(key) ?? [], { height: stores[name].tip, atMs }))
      }
  }

  /** Text that is being selected is not pulled away. */
  #isBeingRead(): boolean {
    const selection = document.getSelection()
    return selection !== null && !selection.isCollapsed && this.#panel.contains(selection.anchorNode)
  }

  #report({ ready, version, startedAt, alarms, chains, notes }: StatusReport): HTMLElement[] {
    return [
      element(
        'p',
        { class: 'headline' },
        badge(ready ? 'ready' : 'catching up', ready ? 'good' : 'busy'),
        `version ${version}, running since ${spokenTime(startedAt)}`,
      ),
      ...(alarms.length > 0
        ? [element('ul', { class: 'alarms', role: 'alert' }, ...alarms.map(alarmOf))]
        : []),
      ...chains.map((chain) => this.#chain(chain)),
      ...(notes.length > 0
        ? [element('ul', { class: 'notes' }, ...notes.map((note) => element('li', {}, note)))]
        : []),
    ]
  }

  #chain(chain: ChainStatus): HTMLElement {
    const { chainId, kind, role, isLocal, head, finalized, lagBlocks, verification, history, lanes, parity } =
      chain
    const { checks, headerRule, unproved, provedBlocks, unprovableBlocks, unprovableTxs, audit } =
      verification
    return element(
      'section',
      { class: 'card', 'aria-label': `Chain ${chainId}` },
      element(
        'h2',
        {},
        `Chain ${chainId}`,
        element('span', { class: 'kind' }, isLocal ? `${kind}, local dev chain` : kind),
        ...(role === 'standby' ? [badge('standby: another process writes', 'busy')] : []),
      ),
      element(
        'dl',
        { class: 'facts' },
        fact('Head', height(head), 'newest block of the node'),
        fact('Final', height(finalized), finalityLabel(chain, browserClock.now())),
        fact('Lag', height(lagBlocks), lagBlocks === 1 ? 'block behind the head' : 'blocks behind the head'),
        fact(
          'Proved',
          sum(provedBlocks),
          [`${checks}, header rule ${headerRule}`, ...unproved.map((part) => `not ${part}`)].join(', '),
        ),
        fact(
          'Parity',
          parity.state,
          parity.problem ?? `${height(parity.comparedBlocks)} blocks compared in both stores`,
        ),
        ...(audit
          ? [
              fact(
                'Audit',
                audit.state,
                audit.problem ?? `${height(audit.comparedBlocks)} blocks read again from the node`,
              ),
            ]
          : []),
        fact('Not provable', sum(unprovableBlocks), `${sum(unprovableTxs)} transactions`),
      ),
      element('h3', {}, 'Stores'),
      this.#stores(chain),
      ...historyOf(history),
      element('h3', {}, 'Lanes'),
      tableOfStates(
        ['Lane', 'State', 'In the way'],
        lanes.map(({ name, state, problem }) => [name, badge(state, toneOf(state, problem)), problem ?? '']),
      ),
    )
  }

  #stores(chain: ChainStatus): HTMLElement {
    const row = (name: StoreName) => {
      const store: StoreStatus = chain.stores[name]
      const rate = blocksPerSecond(this.#sightings.get(`${chain.chainId} ${name}`) ?? [])
      return [
        storeNames[name],
        badge(store.state, toneOf(store.state, store.problem)),
        number(height(store.tip)),
        number(rate === null ? '' : `${rate.toFixed(1)}/s`),
        coverageBar(store.coverage, {
          from: chain.startBlock,
          to: Math.max(chain.head ?? 0, store.tip ?? 0),
        }),
        store.problem ?? '',
      ]
    }
    return tableOfStates(
      ['Store', 'State', 'Tip', 'Blocks', 'Holds', 'In the way'],
      [row('postgres'), row('clickhouse')],
    )
  }
}

const sum = (value: number | null): string =>
  value === null ? 'not counted yet' : value.toLocaleString('en-US')
const height = (value: number | null): string => (value === null ? 'none' : value.toLocaleString('en-US'))
const spokenTime = (iso: string): string => iso.replace('T', ' ').replace('Z', ' UTC')

const alarmOf = ({ chainId, code, problem, since }: Alarm): HTMLElement =>
  element(
    'li',
    {},
    element('strong', {}, `Chain ${chainId}: ${problem}`),
    element('span', { class: 'since' }, `${code.replaceAll('_', ' ')} since ${spokenTime(since)}`),
  )

const number = (text: string): HTMLElement => element('span', { class: 'figure' }, text)

const goodStates: ReadonlySet<string> = new Set(['running', 'done', 'following', 'idle', 'complete'])
const badStates: ReadonlySet<string> = new Set(['down', 'finality_violated', 'stopped', 'failed'])

function toneOf(state: string, problem: string | null): Tone {
  if (badStates.has(state)) return 'bad'
  return problem === null && goodStates.has(state) ? 'good' : 'busy'
}

/** The last column, of problems, is there when there are any. */
function tableOfStates(
  titles: readonly string[],
  rows: readonly (readonly (string | Node)[])[],
): HTMLElement {
  const columns = titles.length - (rows.some((cells) => cells.at(-1) !== '') ? 0 : 1)
  return table(
    titles.slice(0, columns),
    rows.map((cells) => cells.slice(0, columns)),
  )
}

/** Nothing where all of it is read: the stores say what they hold. */
function historyOf(history: HistoryStatus | null): HTMLElement[] {
  const label = history && historyLabel(history)
  if (!history || label === null) return []
  const { blocksDone, blocksTotal, chunks } = history
  const begun = chunks.filter(({ tip }) => tip !== null)
  const progress = element(
    'div',
    { class: 'history' },
    element('progress', { max: blocksTotal, value: blocksDone, 'aria-label': 'History' }),
    element('p', {}, label),
    ...begun.map(({ from, to, tip }) =>
      element(
        'p',
        { class: 'chunk' },
        element('progress', {
          max: to - from + 1,
          value: (tip ?? from - 1) - from + 1,
          'aria-label': `Blocks ${from} to ${to}`,
        }),
        `${from.toLocaleString('en-US')} to ${to.toLocaleString('en-US')}`,
      ),
    ),
  )
  return [element('h3', {}, 'History'), progress]
}

/** Which blocks of the whole are held, as a picture and in words. */
function coverageBar(coverage: readonly Range[], whole: Range): HTMLElement {
  const blocks = Math.max(1, whole.to - whole.from + 1)
  const words = coverage.map(
    ({ from, to }) => `${from.toLocaleString('en-US')} to ${to.toLocaleString('en-US')}`,
  )
  const held = coverage.map(({ from, to }) =>
    svg('rect', {
      x: ((from - whole.from) / blocks) * 100,
      width: ((to - from + 1) / blocks) * 100,
      y: 0,
      height: 8,
    }),
  )
  const bar = svg(
    'svg',
    { class: 'coverage', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    ...held,
  )
  return element('span', { class: 'holds' }, bar, element('span', {}, words.join(', ') || 'nothing yet'))
}
