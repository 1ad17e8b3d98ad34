/** Logs as activity feeds show them: as emitted, and decoded where we know the event. */

import { decodeLog } from '../events/index.ts'
import type { LogFacts } from '../projection.ts'
import type { ActivityEvent, JsonValue } from './activity.ts'

/**
 * @returns the log; with its name, arguments and title when it is a declared event. Integers are
 * decimal strings.
 */
export function activityEvent(log: LogFacts): ActivityEvent {
  const { address, data, logIndex, topics } = log
  const decoded = decodeLog(log)
  if (decoded === null) return { address, data, logIndex, topics }
  const { name, title } = decoded.event
  const args = Object.fromEntries(Object.entries(decoded.args).map(([key, value]) => [key, toJson(value)]))
  return { address, data, logIndex, topics, eventName: name, args, ...(title === null ? {} : { title }) }
}

/** A decoded argument as JSON: integers are decimal strings. */
export function toJson(value: unknown): JsonValue {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value)
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return null
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toJson(part)]))
}
