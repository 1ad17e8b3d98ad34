/** Parts that results and services share. */
import { toFragment } from '../../model/link.ts'
import type { PlanNode } from '../../model/services.ts'
import { element } from '../element.ts'

/** Leads to the plan page, which adds the node to its plan. */
export const planLink = (node: PlanNode, chainId: number | null): HTMLElement =>
  element(
    'a',
    {
      class: 'to-plan',
      href: toFragment({ page: 'plan', chainId, fields: { node: JSON.stringify(node) } }),
    },
    'Add to plan',
  )

export const verifiedText = (at: string | undefined): string =>
  at === undefined ? 'not verified yet' : `verified ${spokenTime(at)}`

export const spokenTime = (iso: string): string => iso.replace('T', ' ').replace(/:\d\d(\.\d+)?Z$/, ' UTC')
