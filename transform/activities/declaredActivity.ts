/**
 * Activities of contracts that the operator declares: a transaction with one of their events is
 * named after it.
 */

import type { ContractEvent } from '../events/event.ts'
import { type Activity, defineActivity, listOccurrences } from './activity.ts'
import { toJson } from './activityEvent.ts'

/** Types of declared activities hold a colon, as no type of ours does: `shop:Sold`. */
export const declaredType = /^[a-z][a-z0-9_]*:[A-Za-z_$][\w$]*$/

/** The first such event of a transaction; one that names the viewer comes before the others. */
export function declaredActivity(contract: string, event: ContractEvent, title: string): Activity {
  return defineActivity({
    type: `${contract}:${event.name}`,
    title,
    find: (tx) => {
      const occurrences = listOccurrences(tx, event)
      const ofViewer = occurrences.find(({ args }) => Object.values(args).includes(tx.viewer))
      const found = ofViewer ?? occurrences[0]
      if (!found) return null
      const args = Object.entries(found.args).map(([name, value]) => [name, toJson(value)])
      return {
        logIndex: found.log.logIndex,
        data: { contract: found.log.address, event: event.name },
        args: Object.fromEntries(args),
      }
    },
  })
}
