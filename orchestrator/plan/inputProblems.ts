/** A node's input against its endpoint's schema, as far as it is known before the plan runs. */
import { Errors } from 'typebox/schema'
import type { RequestProblem } from '#http/errors.ts'
import { expectedBy, type Finding } from '#http/request/expected.ts'
import { isRecord, shorten } from '#primitives.ts'
import type { CheckBudget } from './checkSteps.ts'

/** Problems told per node: an input of another form altogether needs no longer list. */
const PROBLEMS_MAX = 5

export interface InputCheck {
  readonly schema: object
  readonly input: unknown
  /** JSON pointers of what is not known yet. */
  readonly places: readonly string[]
  readonly path: RequestProblem['path']
  /** Shared by all nodes of a plan: an input that takes more is not checked. */
  readonly budget: CheckBudget
}

/** A value at a reference is not known yet, so nothing is said about it, nor about what depends on it. */
export function inputProblems({ schema, input, places, path, budget }: InputCheck): RequestProblem[] {
  const checked = budget.prepared(schema, () => withLinearPatterns(schema, budget))
  if (!checked || !budget.covers(schema, input)) return []
  const [, found] = Errors(checked, input)
  const problems: RequestProblem[] = []
  const seen = new Set<string>()
  for (const finding of found) {
    const { instancePath, keyword } = finding
    if (dependsOnReference(instancePath, keyword, places) || seen.has(instancePath)) continue
    seen.add(instancePath)
    problems.push({ path: [...path, ...instancePath.split('/').slice(1)], message: messageOf(finding) })
    if (problems.length === PROBLEMS_MAX) break
  }
  return problems
}

/**
 * The schema with each pattern as a check of the linear engine: the checker's own would run it in
 * JavaScript's. One that the budget did not cover is not asked.
 */
function withLinearPatterns(schema: object, budget: CheckBudget): Readonly<Record<string, unknown>> {
  const copied = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(copied) : isRecord(value) ? withLinearPatterns(value, budget) : value
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'pattern') return ['~refine', [refinementOf(value, budget)]]
    if (data.has(keyword)) return [keyword, value]
    if (keyword !== 'properties' || !isRecord(value)) return [keyword, copied(value)]
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each)]))]
  })
  return Object.fromEntries(entries)
}

/** Keywords whose value is no schema: a member `pattern` in it is a word like others. */
const data = new Set(['enum', 'const', 'default', 'examples', 'required', 'type'])

const refinementOf = (pattern: unknown, budget: CheckBudget) => ({
  check: (value: unknown) =>
    typeof value !== 'string' || budget.patternOf(String(pattern))?.test(value) !== false,
  error: () => `a text that fits the expression ${pattern}`,
})

function messageOf(finding: Finding): string {
  switch (finding.keyword) {
    case 'boolean':
      return 'is an unknown member'
    case 'additionalProperties':
      return `has unknown members: ${finding.params.additionalProperties
        .slice(0, NAMES_MAX)
        .map((name) => shorten(name))
        .join(', ')}`
    case 'required':
      return `lacks ${finding.params.requiredProperties
        .slice(0, NAMES_MAX)
        .map((name) => shorten(name))
        .join(', ')}`
    default:
      return `must be ${expectedBy(finding)}`
  }
}

/** Members named in one message. */
const NAMES_MAX = 10

function dependsOnReference(instancePath: string, keyword: string, places: readonly string[]): boolean {
  const isBelow = (path: string, above: string) => path === above || path.startsWith(`${above}/`)
  if (places.some((place) => isBelow(instancePath, place))) return true
  // Whether a union fits may hang on the reference inside it; whether a member is there does not.
  const hangs = keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'not' || keyword === 'enum'
  return hangs && places.some((place) => isBelow(place, instancePath))
}
