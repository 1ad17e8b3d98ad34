/** null where absence is meant: many clients write what they leave out as null. */
import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { isRecord } from '#primitives.ts'

/** The value without members that are null, where its schema lets them be absent and knows no null. */
export function withoutNulls(schema: unknown, value: unknown): unknown {
  if (!isRecord(schema)) return value
  if (Array.isArray(value))
    return isRecord(schema['items']) ? value.map((item) => withoutNulls(schema['items'], item)) : value
  const { properties, required } = schema
  if (!isRecord(value) || !isRecord(properties)) return value
  const needed = Array.isArray(required) ? required : []
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isRecord(own)) return [[name, member]]
    return isAbsent(own, member, needed.includes(name)) ? [] : [[name, withoutNulls(own, member)]]
  })
  return Object.fromEntries(kept)
}

const isAbsent = (schema: TSchema, member: unknown, isNeeded: boolean): boolean =>
  member === null && !isNeeded && !Check(schema, null)
