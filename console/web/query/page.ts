/** The query page: SQL, its result, and a link that brings both back. */
import type { LinkFields } from '../../model/link.ts'
import { find } from '../element.ts'
import type { Page, PageFrame } from '../page.ts'
import { copy } from './download.ts'
import { markup } from './markup.ts'
import { QueryView } from './QueryView.ts'
import { wireSplitter } from './splitter.ts'

export function open(host: HTMLElement, frame: PageFrame): Page {
  host.append(...markup())
  const view = new QueryView({ chainId: frame.chainId, ran: () => frame.writeLink('push') })
  wireSplitter(find('splitter', HTMLElement), find('editor', HTMLElement))
  const share = find('share', HTMLButtonElement)
  share.addEventListener('click', async () => {
    frame.writeLink('replace')
    share.textContent = (await copy(location.href)) ? 'Link copied' : 'Link is in the address bar'
  })
  return {
    show: async ({ sql, engine, signatures = '' }: LinkFields) => {
      if (sql === undefined) return view.openExample()
      const asked = signatures.split('\n').filter((signature) => signature !== '')
      await view.open(sql, engine === 'clickhouse' ? 'clickhouse' : 'postgres', asked)
    },
    linked: (): LinkFields => linkOf(view),
  }
}

/** A signature holds no line break, so that one joins them. */
function linkOf({ sql, engine, signatures }: QueryView): LinkFields {
  if (sql === '') return {}
  return { engine, sql, ...(signatures.length > 0 && { signatures: signatures.join('\n') }) }
}
