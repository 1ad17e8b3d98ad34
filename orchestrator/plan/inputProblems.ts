/** A node's input against its endpoint's schema, as far as it is known before the plan runs. */
import { Errors } from 'typebox/schema'
import type { Problem } from '#api/http/errors.ts'

/** Problems told per node: an input of another form altogether needs no longer list. */
const PROBLEMS_MAX = 5

/**
 * What stands at a reference is not known yet, so nothing is said about it, nor about what depends
 * on it.
 */
export function inputProblems(
  schema: object,
  input: unknown,
  places: readonly string[],
  path: Problem['path'],
): Problem[] {
  const [, found] = Errors({ ...schema }, input)
  const problems: Problem[] = []
  const seen = new Set<string>()
  for (const { instancePath, keyword, message, params } of found) {
    if (dependsOnReference(instancePath, keyword, places) || seen.has(instancePath)) continue
    seen.add(instancePath)
    const missing = keyword === 'required' ? `lacks ${namesIn(params)}` : message
    problems.push({ path: [...path, ...instancePath.split('/').slice(1)], message: missing })
    if (problems.length === PROBLEMS_MAX) break
  }
  return problems
}

function dependsOnReference(instancePath: string, keyword: string, places: readonly string[]): boolean {
  const isBelow = (path: string, above: string) => path === above || path.startsWith(`${above}/`)
  if (places.some((place) => isBelow(instancePath, place))) return true
  // Whether a union fits may hang on the reference inside it; whether a member is there does not.
  const hangs = keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'not' || keyword === 'enum'
  return hangs && places.some((place) => isBelow(place, instancePath))
}

const namesIn = (params: object): string =>
  'requiredProperties' in params && Array.isArray(params.requiredProperties)
    ? params.requiredProperties.slice(0, 10).join(', ')
    : 'a member'
