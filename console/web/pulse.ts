/** The line at the top that says whether the program answers, and where the chosen chain stands. */
import { find } from './element.ts'
import type { StatusSample } from './statusFeed.ts'

/** More blocks behind the head than this, and the dot says so. */
const LAG_BLOCKS_QUIET = 2

export function showPulse({ report }: StatusSample, chosen: number | null): void {
  const chain = report?.chains.find(({ chainId }) => chainId === chosen) ?? report?.chains[0]
  const pulse = find('pulse', HTMLElement)
  const text = find('pulse-text', HTMLElement)
  if (!report || !chain) {
    pulse.dataset['state'] = 'down'
    text.textContent = report ? 'no chain' : 'the program does not answer'
    return
  }
  const { head, lagBlocks, stores, isLocal } = chain
  const down = [stores.postgres, stores.clickhouse].some(({ state }) => state === 'down')
  const isBehind = (lagBlocks ?? 1) > LAG_BLOCKS_QUIET
  pulse.dataset['state'] = down ? 'down' : isBehind ? 'behind' : 'ok'
  const block = head === null ? 'no block yet' : `block ${head.toLocaleString('en-US')}`
  const lag = lagBlocks ? `, ${lagBlocks.toLocaleString('en-US')} behind` : ''
  text.textContent = `${isLocal ? 'local dev chain, ' : ''}${block}${lag}`
}
