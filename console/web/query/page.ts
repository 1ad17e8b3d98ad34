/** The query page: SQL, its result, and a link that brings both back. */
import { pickAxes } from '../../chart/namedAxes.ts'
import type { LinkFields } from '../../model/link.ts'
import { find } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { copy } from './download.ts'
import { markup, ROW_LIMIT_FIRST } from './markup.ts'
import { type OpenedQuery, QueryView } from './QueryView.ts'
import { isResultTab } from './ResultView.ts'
import { wireSplitter } from './splitter.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  host.append(...markup())
  const view = new QueryView({
    chainId: frame.chainId,
    ran: () => frame.writeLink('push'),
    chosen: () => frame.writeLink('replace'),
  })
  wireSplitter(find('splitter', HTMLElement), find('editor', HTMLElement))
  const share = find('share', HTMLButtonElement)
  share.addEventListener('click', async () => {
    frame.writeLink('replace')
    share.textContent = (await copy(location.href)) ? 'Link copied' : 'Link is in the address bar'
  })
  return {
    show: async ({ sql, engine, signatures = '', rows = '', as, ...more }: LinkFields) => {
      if (sql === undefined) return view.openExample()
      await view.open({
        sql,
        engine: engine === 'clickhouse' ? 'clickhouse' : 'postgres',
        signatures: signatures.split('\n').filter((signature) => signature !== ''),
        rows,
        tab: isResultTab(as) ? as : 'table',
        chart: pickAxes(more),
      })
    },
    linked: (): LinkFields => (view.opened.sql === '' ? {} : fieldsOf(view.opened)),
  }
}

/** A signature holds no line break, so that one joins them. */
const fieldsOf = ({ sql, engine, signatures, rows, tab, chart }: OpenedQuery): LinkFields => ({
  ...{ engine, sql },
  ...(signatures.length > 0 && { signatures: signatures.join('\n') }),
  ...(rows !== ROW_LIMIT_FIRST && { rows }),
  ...(tab !== 'table' && { as: tab }),
  ...(tab === 'chart' && chart),
})
