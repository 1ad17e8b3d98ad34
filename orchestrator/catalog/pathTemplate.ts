/**
 * Paths: the templates of a catalog and the concrete path of a plan. A path is taken apart,
 * decoded, matched and put together again by us, so that what is called is what was matched
 * (PAY-09).
 */
import { failure } from '#errors.ts'

/**
 * A template's segment: text, `:name` or `{name}` for one segment, `*` or `:name*` for the rest.
 */
type Part =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'param' | 'rest'; readonly name: string }

export interface PathTemplate {
  readonly parts: readonly Part[]
  /** Templates of one shape match the same paths. */
  readonly shape: string
}

/** @throws PathError for a template that no path could fit */
export function parseTemplate(text: string): PathTemplate {
  const segments = segmentsOf(text)
  const parts = segments.map((segment, index) => {
    const part = partOf(segment)
    if (part.kind === 'rest' && index !== segments.length - 1) throw new PathError('has something behind `*`')
    return part
  })
  const shape = parts.map((part) => (part.kind === 'static' ? part.text : part.kind === 'param' ? ':' : '*'))
  return { parts, shape: shape.map(encodeURIComponent).join('/') }
}

/** Names of what a caller fills in. */
export const parametersOf = ({ parts }: PathTemplate): string[] =>
  parts.flatMap((part) => (part.kind === 'static' ? [] : [part.name]))

/** The decoded segments of a concrete path. @throws PathError saying why it is none */
export function parsePath(text: string): string[] {
  if (/[?#\\]/.test(text)) throw new PathError('holds ?, # or a backslash')
  return segmentsOf(text).map((segment) => {
    const decoded = decode(segment)
    if (decoded === '.' || decoded === '..') throw new PathError('climbs with . or ..')
    if (/[/\\]/.test(decoded)) throw new PathError('holds an encoded slash')
    // A seller may decode once more than we do.
    if (/%(2e|2f|5c|00|0a|0d|3f|23)/i.test(decoded)) throw new PathError('is encoded twice')
    if (/[\p{Cc}\p{Cf}\p{Cs}]/u.test(decoded)) throw new PathError('holds control characters')
    if (isPlaceholder(decoded)) throw new PathError(`has nothing in place of ${decoded.slice(0, 100)}`)
    return decoded
  })
}

/**
 * The template that fits, the most exact first: text before a parameter before the rest, from the
 * left.
 */
export function matchPath<T extends { readonly template: PathTemplate }>(
  segments: readonly string[],
  candidates: readonly T[],
): T | undefined {
  let best: T | undefined
  for (const candidate of candidates) {
    if (!fits(candidate.template, segments)) continue
    if (!best || exactness(candidate.template) > exactness(best.template)) best = candidate
  }
  return best
}

/**
 * The URL of a path below a service's: its prefix stays, segments are encoded anew, and the origin
 * is the service's.
 * @throws PathError when the result leaves either
 */
export function urlOf(serviceUrl: string, segments: readonly string[]): URL {
  const base = new URL(serviceUrl)
  const prefix = base.pathname.replace(/\/+$/, '')
  const path = `${prefix}/${segments.map(encodeSegment).join('/')}`
  const url = new URL(path, base.origin)
  if (url.origin !== base.origin || url.pathname !== path) throw new PathError('leaves the service')
  return url
}

/**
 * Sellers compare paths as text, and write names such as `models:run` plainly (RFC 3986, pchar).
 */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replaceAll(/%(3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent)

function fits({ parts }: PathTemplate, segments: readonly string[]): boolean {
  const rest = parts.at(-1)?.kind === 'rest'
  if (rest ? segments.length < parts.length : segments.length !== parts.length) return false
  return parts.every((part, index) => {
    const segment = segments[index] ?? ''
    return part.kind === 'static' ? part.text === segment : segment !== ''
  })
}

/** Compares as text: a digit for each part. */
const exactness = ({ parts }: PathTemplate): string =>
  parts.map(({ kind }) => (kind === 'static' ? '3' : kind === 'param' ? '2' : '1')).join('')

function segmentsOf(text: string): string[] {
  if (!text.startsWith('/') || text.startsWith('//')) throw new PathError('does not start with one slash')
  const segments = text.slice(1).split('/')
  // A slash at the end is a path of its own.
  if (segments.slice(0, -1).includes('')) throw new PathError('holds an empty segment')
  return segments
}

function partOf(segment: string): Part {
  if (segment === '*') return { kind: 'rest', name: 'rest' }
  const [, name, star, braced] = /^(?::([A-Za-z_]\w*)(\*?)|\{([A-Za-z_][\w.-]*)\})$/.exec(segment) ?? []
  if (name !== undefined) return { kind: star ? 'rest' : 'param', name }
  if (braced !== undefined) return { kind: 'param', name: braced }
  if (isPlaceholder(segment)) throw new PathError('has a parameter that cannot be read')
  return { kind: 'static', text: decode(segment) }
}

/** `:id`, `{id}`, `{id}.json`, `*`: what stands for something else. `models:run` is a name. */
const isPlaceholder = (segment: string): boolean => /^:[A-Za-z_]|[{}]|^\*$/.test(segment)

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new PathError('is not well encoded')
  }
}

/** The message says what is wrong with a path, for a problem's text. */
export class PathError extends failure('PathError', 'path_invalid', 'stop') {}
