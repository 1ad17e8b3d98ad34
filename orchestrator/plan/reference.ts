/**
 * Values that a node takes from another one's output: `flow://<nodeId>/output#/pointer`, `{"$map":
 * {"from": reference, "path": pointer}}` for one member of each item, `{"$concat": [...]}` for
 * several texts or arrays together. The node is named percent-encoded.
 */

import type { RequestProblem } from '#http/errors.ts'
import { isRecord } from '#primitives.ts'

export interface Reference {
  readonly nodeId: string
  /** RFC 6901; empty for all of the output. */
  readonly pointer: string
}

/** An input's references to others. */
export interface InputReferences {
  readonly references: readonly Reference[]
  /** JSON pointers of the places in the input whose value is not known before the plan runs. */
  readonly places: readonly string[]
  readonly problems: readonly RequestProblem[]
}

/** Null for a text that is no reference; `malformed` for one that tries to be. */
export function parseReference(text: string): Reference | null | 'malformed' {
  if (!/^flow:/i.test(text)) return null
  const [, node = '', pointer = ''] = /^flow:\/\/([^/?#]+)\/output(?:#((?:\/[^#]*)?))?$/.exec(text) ?? []
  if (node === '' || /~(?![01])/.test(pointer)) return 'malformed'
  try {
    return { nodeId: decodeURIComponent(node), pointer: decodeURIComponent(pointer) }
  } catch {
    return 'malformed'
  }
}

/** Every reference of an input, with its problems at `path`. */
export function referencesOf(input: unknown, path: RequestProblem['path']): InputReferences {
  const references: Reference[] = []
  const places: string[] = []
  const problems: RequestProblem[] = []

  const take = (text: string, at: RequestProblem['path']): boolean => {
    const found = parseReference(text)
    if (found === null) return false
    if (found === 'malformed')
      problems.push({ path: at, message: 'expected flow://<nodeId>/output#/pointer' })
    else references.push(found)
    return true
  }
  const takeMap = (of: unknown, at: RequestProblem['path']) => {
    if (!isRecord(of) || typeof of['from'] !== 'string' || typeof of['path'] !== 'string')
      return void problems.push({ path: at, message: '$map takes {from: reference, path: pointer}' })
    if (Object.keys(of).length !== 2) problems.push({ path: at, message: '$map takes from and path alone' })
    if (!take(of['from'], [...at, 'from']))
      problems.push({ path: [...at, 'from'], message: 'is no reference' })
    if (!isPointer(of['path'])) problems.push({ path: [...at, 'path'], message: 'is no JSON pointer' })
  }
  const takeConcat = (of: unknown, at: RequestProblem['path']) => {
    if (!Array.isArray(of) || of.length === 0)
      return void problems.push({ path: at, message: '$concat takes an array of texts or arrays' })
    for (const [index, part] of of.entries()) visit(part, [...at, index], null)
  }
  /** No place: what is joined stands at the place of all of it. */
  const visit = (value: unknown, at: RequestProblem['path'], place: string | null) => {
    if (typeof value === 'string') {
      if (take(value, at) && place !== null) places.push(place)
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...at, index], below(place, `${index}`))
    } else if (isRecord(value)) {
      const operator = ['$map', '$concat'].find((name) => Object.hasOwn(value, name))
      if (operator === undefined) {
        for (const [name, member] of Object.entries(value))
          visit(member, [...at, name], below(place, escapePointer(name)))
        return
      }
      if (place !== null) places.push(place)
      if (Object.keys(value).length > 1)
        problems.push({ path: at, message: `${operator} stands alone in its object` })
      if (operator === '$map') takeMap(value[operator], [...at, operator])
      else takeConcat(value[operator], [...at, operator])
    }
  }
  visit(input, path, '')
  return { references, places, problems }
}

const below = (place: string | null, segment: string) => (place === null ? null : `${place}/${segment}`)

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const isPointer = (text: string): boolean => text === '' || (text.startsWith('/') && !/~(?![01])/.test(text))
