/** The status page. */
import type { Page, PageFrame } from '../page.ts'
import { StatusView } from './StatusView.ts'

export function open(host: HTMLElement, _frame: PageFrame): Page {
  const view = new StatusView(host)
  return { told: (sample) => view.show(sample) }
}
