/**
 * A validator's findings, in words: one problem for a place. Each message goes on from the name of its
 * place, as in `body.limit must be at least 1`.
 */
import { isRecord, shorten } from '#primitives.ts'
import type { RequestProblem } from '../errors.ts'
import { expectedBy, type Finding } from './expected.ts'

/** @param value of which the findings are */
export function problemsOf(
  findings: readonly Finding[],
  value: unknown,
  at: RequestProblem['path'] = ['body'],
): RequestProblem[] {
  const told = new Map<string, Place>()
  for (const finding of tellingOf(findings)) {
    const steps = stepsOf(finding.instancePath)
    for (const name of membersNamed(finding)) {
      const path = [...at, ...steps, ...name]
      const key = JSON.stringify(path)
      const place = told.get(key) ?? { path, expected: new Set(), isNull: valueAt(value, steps) === null }
      told.set(key, { ...place, ...sayingOf(finding, place) })
    }
  }
  return [...told.values()].map(({ path, message, expected, isNull }) => ({
    path,
    message: message ?? `must be ${[...expected].join(' or ')}${isNull ? ', not null' : ''}`,
  }))
}

/** The first problem as a sentence, and how many others there are. */
export function sentenceOf([first, ...others]: readonly RequestProblem[]): string {
  if (!first) return 'Not valid.'
  const more = others.length > 0 ? ` (and ${others.length} more, see details)` : ''
  return `Not valid: ${shorten(`${first.path.join('.')} ${first.message}`, SENTENCE_CHARACTERS_MAX)}${more}.`
}

/** Room for a long name and a list of choices. */
const SENTENCE_CHARACTERS_MAX = 300

/** The findings at one place. */
interface Place {
  readonly path: RequestProblem['path']
  /** The expectations of its value, by each rule that it breaks. */
  readonly expected: ReadonlySet<string>
  readonly isNull: boolean
  readonly message?: string
}

/** Members that a finding is about, below its own place. */
function membersNamed(finding: Finding): readonly (readonly string[])[] {
  if (finding.keyword === 'required') return finding.params.requiredProperties.map((name) => [shorten(name)])
  if (finding.keyword === 'propertyNames') return finding.params.propertyNames.map((name) => [shorten(name)])
  return [[]]
}

function sayingOf(finding: Finding, { expected }: Place): Partial<Place> {
  switch (finding.keyword) {
    case 'required':
      return { message: 'is required' }
    // So says `additionalProperties: false` of the member itself.
    case 'boolean':
      return { message: 'is an unknown member' }
    case 'propertyNames':
      return { message: 'has a name that is not taken' }
    default:
      return { expected: new Set([...expected, expectedBy(finding)]) }
  }
}

/**
 * The findings without what others say better: those of branches of a union that were not meant,
 * and of the rules of one schema that a value breaks all but the most telling.
 */
function tellingOf(findings: readonly Finding[]): Finding[] {
  const best = new Map<string, Finding>()
  for (const finding of ofMeantBranches(findings)) {
    const { keyword, instancePath, schemaPath } = finding
    // Both are named by others; a rule for names says nothing of the value.
    if (keyword === 'additionalProperties' || schemaPath.endsWith('/propertyNames')) continue
    const key = `${instancePath} ${schemaPath}`
    const other = best.get(key)
    if (!other || rankOf(finding) < rankOf(other)) best.set(key, finding)
  }
  return [...best.values()]
}

const ranks = ['enum', 'const', 'required', 'type', 'format', 'minLength', 'maxLength', 'pattern']
const rankOf = ({ keyword }: Finding): number =>
  ranks.includes(keyword) ? ranks.indexOf(keyword) : ranks.length

/** A branch whose tag (`type: url`) differs was not meant, unless that is so of all of them. */
function ofMeantBranches(findings: readonly Finding[]): Finding[] {
  const branches = findings.map((finding) => ({ finding, branch: branchOf(finding.schemaPath) }))
  const refuted = new Set(
    branches.flatMap(({ finding, branch }) => (branch && isTag(finding) ? [branch.name] : [])),
  )
  const meant = new Set(
    branches.flatMap(({ branch }) => (branch && !refuted.has(branch.name) ? [branch.union] : [])),
  )
  const told = branches.filter(({ finding, branch }) => {
    if (!branch || !refuted.has(branch.name)) return finding.keyword !== 'anyOf'
    return isTag(finding) && !meant.has(branch.union)
  })
  // Where no branch says anything, the union does.
  return told.length > 0 ? told.map(({ finding }) => finding) : [...findings]
}

function branchOf(schemaPath: string): { readonly union: string; readonly name: string } | null {
  const at = schemaPath.lastIndexOf('/anyOf/')
  if (at < 0) return null
  const end = schemaPath.indexOf('/', at + '/anyOf/'.length)
  return { union: schemaPath.slice(0, at), name: end < 0 ? schemaPath : schemaPath.slice(0, end) }
}

const isTag = (finding: Finding): boolean =>
  finding.keyword === 'const' || (finding.keyword === 'enum' && finding.params.allowedValues.length === 1)

/** Names of members, and indexes as the numbers they are. */
const stepsOf = (pointer: string): (string | number)[] => pointer.split('/').slice(1).map(unescaped)

const unescaped = (segment: string): string | number =>
  /^[0-9]{1,9}$/.test(segment)
    ? Number(segment)
    : shorten(segment.replaceAll('~1', '/').replaceAll('~0', '~'))

function valueAt(value: unknown, steps: readonly (string | number)[]): unknown {
  let at = value
  for (const step of steps) at = Array.isArray(at) || isRecord(at) ? Reflect.get(at, step) : undefined
  return at
}
