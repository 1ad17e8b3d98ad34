/** The plan page: a plan as JSON, drawn in its stages, with its live price. */
import type { LinkFields } from '../../model/link.ts'
import { withNode } from '../../model/planDraft.ts'
import { isObject } from '../../model/queryAnswer.ts'
import type { Page, PageFrame } from '../page.ts'
import { PlanView } from './PlanView.ts'

/** Longer plans are not kept in links: servers of pages never see them, but people send them. */
const LINKED_CHARACTERS_MAX = 16_000

export function open(host: HTMLElement, frame: PageFrame): Page {
  const view = new PlanView(host, { edited: () => frame.writeLink('replace'), chainId: frame.chainId })
  return {
    show: async ({ plan, node }: LinkFields) => {
      if (plan !== undefined) view.text = plan
      if (node !== undefined) add(view, node)
      frame.writeLink('replace')
      await view.offerExample()
    },
    linked: (): LinkFields =>
      view.text === '' || view.text.length > LINKED_CHARACTERS_MAX ? {} : { plan: view.text },
  }
}

/** Anything may stand in a link. */
function add(view: PlanView, text: string): void {
  const node = nodeOf(text)
  const added = node && withNode(view.text, node)
  if (added) view.text = added
  else view.tell('The endpoint could not be added: what stands here is no plan yet.')
}

function nodeOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const node: unknown = JSON.parse(text)
    return isObject(node) ? node : null
  } catch {
    return null
  }
}
