/** Starts the console: the chain, the two views, the link in the address bar. */
import { parseFragment, toFragment } from '../model/share.ts'
import type { StatusReport } from './api.ts'
import { copy } from './download.ts'
import { element, find } from './element.ts'
import { QueryView } from './queryView.ts'
import { wireSplitter } from './splitter.ts'
import { followStatus, type StatusSample } from './statusFeed.ts'
import { StatusView } from './statusView.ts'
import { wireTabs } from './tabs.ts'

const chains = find('chain', HTMLSelectElement)
let view: 'query' | 'status' = 'query'
let last: StatusSample | null = null
/** The chain a link asked for before the program said which it serves. */
let wanted: number | null = null

const status = new StatusView()
const query = new QueryView({ chainId: chainOnPage, ran: () => writeLink('push') })
const selectView = wireTabs(['query', 'status'], (name) => {
  view = name
  if (last) status.show(last)
})

find('tab-query', HTMLElement).addEventListener('click', () => writeLink('replace'))
find('tab-status', HTMLElement).addEventListener('click', () => writeLink('replace'))
chains.addEventListener('change', () => last && showPulse(last))
find('share', HTMLButtonElement).addEventListener('click', () => void share())
window.addEventListener('popstate', () => void readLink())
wireSplitter(find('splitter', HTMLElement), find('editor', HTMLElement))
if (/Mac|iPhone|iPad/.test(navigator.platform)) find('run-key', HTMLElement).textContent = '⌘ ⏎'
// A narrow screen shows the query first.
find('sidebar', HTMLDetailsElement).open = matchMedia('(min-width: 52rem)').matches

void followStatus((sample) => {
  last = sample
  if (sample.report) offerChains(sample.report)
  showPulse(sample)
  status.show(sample)
})
void readLink().then(() => query.openExample())

function chainOnPage(): number | null {
  return chains.value === '' ? wanted : Number(chains.value)
}

async function readLink(): Promise<void> {
  const link = parseFragment(location.hash)
  wanted = link.chainId
  if (wanted !== null && chains.options.length > 0) chains.value = `${wanted}`
  selectView(link.view)
  await query.open(link.sql, link.engine)
}

function link(): string {
  const { sql, engine } = query
  return toFragment({ view, sql: sql === '' ? null : sql, engine, chainId: chainOnPage() })
}

function writeLink(how: 'push' | 'replace'): void {
  if (link() === location.hash) return
  if (how === 'push') history.pushState(null, '', link())
  else history.replaceState(null, '', link())
}

async function share(): Promise<void> {
  writeLink('replace')
  const button = find('share', HTMLButtonElement)
  button.textContent = (await copy(location.href)) ? 'Link copied' : 'Link is in the address bar'
}

function offerChains({ chains: served }: StatusReport): void {
  const ids = served.map(({ chainId }) => `${chainId}`)
  if (ids.join() === [...chains.options].map(({ value }) => value).join()) return
  const chosen = chains.value || `${wanted ?? ''}`
  chains.replaceChildren(...ids.map((id) => element('option', { value: id, selected: id === chosen }, id)))
}

function showPulse({ report }: StatusSample): void {
  const chain = report?.chains.find(({ chainId }) => `${chainId}` === chains.value) ?? report?.chains[0]
  const pulse = find('pulse', HTMLElement)
  const text = find('pulse-text', HTMLElement)
  if (!report || !chain) {
    pulse.dataset['state'] = 'down'
    text.textContent = report ? 'no chain' : 'the program does not answer'
    return
  }
  const { head, lagBlocks, stores } = chain
  const down = [stores.postgres, stores.clickhouse].some(({ state }) => state === 'down')
  pulse.dataset['state'] = down ? 'down' : (lagBlocks ?? 1) > 2 ? 'behind' : 'ok'
  const block = head === null ? 'no block yet' : `block ${head.toLocaleString('en-US')}`
  text.textContent = lagBlocks ? `${block}, ${lagBlocks.toLocaleString('en-US')} behind` : block
}
