/**
 * A member that the protocol lets a message leave out may also be null, as many clients write it. A member
 * that is missing or has another form is told by its name, in the place of the library's report.
 */
import { Compile } from 'typebox/compile'
import { problemsOf } from '#http/request/problems.ts'
import * as s from '#http/schema.ts'
import { isRecord, type Json, membersOf } from '#primitives.ts'

/** A message without the members that are null; arguments are read by their tool. */
export function withoutAbsent(message: unknown): unknown {
  if (!isRecord(message)) return message
  const { params, ...others } = message
  if (params === null) return others
  if (!isRecord(params)) return message
  return { ...message, params: mapped(params, paramOf) }
}

function paramOf(name: string, value: unknown): unknown {
  if (name === 'arguments') return value
  return name === '_meta' && isRecord(value) ? mapped(value, metaOf) : present(value)
}

/** A value that others than the protocol put there may be signed as it is, such as a payment. */
const metaOf = (name: string, value: unknown): unknown =>
  name.startsWith('io.modelcontextprotocol/') ? present(value) : value

function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present)
  return isRecord(value) ? mapped(value, (_, member) => present(member)) : value
}

const mapped = (members: Json, each: (name: string, value: unknown) => unknown): Json =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === null ? [] : [[name, each(name, value)]])),
  )

const anything = s.foreign('Of any form.')
const text = s.optional(s.text())
const capability = s.optional(anything)

/** By method: what this server reads of its params. */
const forms: Readonly<Record<string, s.TSchema>> = {
  initialize: s.openObject({
    protocolVersion: s.text(),
    capabilities: s.openObject({
      ...{ experimental: capability, sampling: capability, elicitation: capability, roots: capability },
      tasks: capability,
    }),
    clientInfo: s.openObject({
      name: s.text(),
      version: s.text(),
      title: text,
      websiteUrl: text,
      description: text,
    }),
  }),
  'tools/list': s.openObject({ cursor: text }),
  'tools/call': s.openObject({ name: s.text(), arguments: s.optional(anything) }),
}
const checks = new Map(Object.entries(forms).map(([method, form]) => [method, Compile(form)]))

/** The problem of a request with its params, in a sentence; undefined where there is none. */
export function paramsProblem(message: unknown): string | undefined {
  const { method, params = {} } = membersOf(message)
  const check = typeof method === 'string' ? checks.get(method) : undefined
  if (!check || check.Check(params)) return undefined
  const [first] = problemsOf(check.Errors(params), params, ['params'])
  return first && `${first.path.join('.')} ${first.message}.`
}
