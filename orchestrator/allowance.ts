/** One caller's limits in a minute, over all processes. */
import type { AccessRule } from '#http/request/access.ts'

/** Limits of one caller; without a credential a tenth, or a fifth, of them. */
const SEARCHES_PER_MINUTE = 600
const STRANGERS_SEARCHES_PER_MINUTE = 60
/** Messages, plans and each 64 KiB of them. */
const REQUESTS_PER_MINUTE = 600
const STRANGERS_REQUESTS_PER_MINUTE = 120
/** Pages of services and descriptions. */
const READS_PER_MINUTE = 600
const STRANGERS_READS_PER_MINUTE = 120
/** Calls of sellers made for one caller: twelve plans of 100 nodes. */
export const SELLER_CALLS_PER_MINUTE = 1_200

export const searches: AccessRule = {
  who: 'anyone',
  scope: 'services:search',
  payable: false,
  perMinute: SEARCHES_PER_MINUTE,
  strangersPerMinute: STRANGERS_SEARCHES_PER_MINUTE,
}

/** Plans and messages of agents together, by their size. */
export const agentRequests: AccessRule = {
  who: 'anyone',
  scope: 'services:plan',
  payable: false,
  perMinute: REQUESTS_PER_MINUTE,
  strangersPerMinute: STRANGERS_REQUESTS_PER_MINUTE,
}

/** Reads of the catalog as it is. */
export const catalogReads: AccessRule = {
  who: 'anyone',
  scope: 'services:read',
  payable: false,
  perMinute: READS_PER_MINUTE,
  strangersPerMinute: STRANGERS_READS_PER_MINUTE,
}

/** Jobs by their id, as often as somebody waits for them. */
export const jobReads: AccessRule = {
  who: 'anyone',
  scope: 'services:jobs',
  payable: false,
  perMinute: READS_PER_MINUTE,
  strangersPerMinute: STRANGERS_READS_PER_MINUTE,
}

/** Units of one request: a message, and each 64 KiB of its text. */
export const unitsOf = (characters: number, messages = 1): number =>
  messages + Math.floor(characters / UNIT_CHARACTERS)

const UNIT_CHARACTERS = 64 * 1_024
