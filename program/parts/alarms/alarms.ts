/** A chain's alarms for its owner, from the states of its lanes, stores and audit. */
import type { Alarm } from '../part.ts'
import { conditions } from './conditions.ts'
import type { Watched } from './watched.ts'

/** The conditions that hold now, each code at most once. */
export function alarmsOf(chain: Watched): Alarm[] {
  const { chainId } = chain.state
  return conditions.flatMap(({ code, find }) => {
    const found = find(chain)
    return found === null ? [] : [{ chainId, code, problem: found.problem ?? 'no reason is known' }]
  })
}
