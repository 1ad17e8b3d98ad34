/** Which methods a path takes: for 405, for OPTIONS. Consulted only where routing found nothing. */
import type { RouteOptions } from 'fastify'

export class RouteTable {
  readonly #routes: { readonly segments: readonly string[]; readonly methods: readonly string[] }[] = []

  add({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    if (url === '*') return
    this.#routes.push({ segments: url.split('/'), methods: [method].flat() })
  }

  /** The methods of a URL's path, OPTIONS included; none when there is nothing at the path. */
  methodsOf(url: string): string[] {
    const [path = ''] = url.split('?')
    const segments = path.split('/')
    const methods = this.#routes
      .filter((route) => matches(route.segments, segments))
      .flatMap((route) => route.methods)
    return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort()
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false
  return pattern.every((part, index) =>
    part.startsWith(':') ? segments[index] !== '' : part === segments[index],
  )
}
