/** The status page. */
import type { Frame, Page } from '../page.ts'
import { StatusView } from './statusView.ts'

export function open(host: HTMLElement, _frame: Frame): Page {
  const view = new StatusView(host)
  return { told: (sample) => view.show(sample) }
}
