/** Real values for the parameters of operations, taken from the deployment's own lists. */
import { isRecord } from '#primitives.ts'
import { isList, type Json, type Operation, operationsOf, parameterOf } from './apiDocument.ts'
import { type Deployment, send } from './deployment.ts'
import { accepts, validText } from './parameterTexts.ts'

/** A request's path parameters. */
type Segments = Readonly<Record<string, string>>

/** Requests to try per operation with path parameters. */
const requestsMax = 4
const rowsMax = 200

/** Lists that hold values of a path parameter, and the field that has them. */
const sources: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  block: [
    ['/v1/blocks', 'number'],
    ['/v1/blocks', 'hash'],
    ['/v1/blocks', 'timestamp'],
  ],
  transactionHash: [
    ['/v1/transactions', 'hash'],
    ['/v1/transfers', 'transactionHash'],
  ],
  transaction: [['/v1/transactions', 'hash']],
  base: [['/v1/exchange/pairs', 'base.address']],
  orderId: [['/v1/exchange/orders', 'orderId']],
  pairId: [['/v1/exchange/pairs', 'key']],
  address: [
    ['/v1/transfers', 'sender'],
    ['/v1/transfers', 'recipient'],
    ['/v1/tokens', 'address'],
  ],
  token: [
    ['/v1/transfers', 'sourceToken.address'],
    ['/v1/tokens', 'address'],
    ['/v1/tokens?verified=true', 'symbol'],
  ],
  serviceId: [['/v1/services', 'id']],
}

export class Samples {
  readonly #deployment: Deployment
  readonly #rows = new Map<string, Promise<readonly Json[]>>()

  constructor(deployment: Deployment) {
    this.#deployment = deployment
  }

  /** Newest rows of a list; none when it does not answer. */
  rows(path: string): Promise<readonly Json[]> {
    const known = this.#rows.get(path) ?? this.#readRows(path)
    this.#rows.set(path, known)
    return known
  }

  /**
   * URLs that the operation should answer, without optional parameters; none when no value of a
   * parameter is known.
   */
  async urls(operation: Operation): Promise<readonly string[]> {
    const names = operation.parameters.filter((parameter) => parameter.in === 'path')
    const search = this.#required(operation)
    const segments = names.length === 0 ? [{}] : await this.#segments(operation)
    return segments.map((values: Segments) => {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
        encodeURIComponent(values[name] ?? ''),
      )
      return search === '' ? path : `${path}?${search}`
    })
  }

  #required(operation: Operation): string {
    const search = new URLSearchParams()
    for (const { name, in: place, required, schema } of operation.parameters)
      if (place === 'query' && required) search.set(name, validText(schema))
    const { chainId } = this.#deployment
    if (chainId !== undefined && parameterOf(operation, 'chainId')) search.set('chainId', chainId)
    return `${search}`
  }

  async #segments(operation: Operation): Promise<readonly Segments[]> {
    if (operation.path.startsWith('/console/')) return this.#consoleFiles()
    const names = operation.parameters.filter((parameter) => parameter.in === 'path')
    const values = await Promise.all(
      names.map(async ({ name, schema }) => {
        const found = await this.#valuesOf(name, operation.path)
        return [name, found.filter((text) => accepts(schema, text)).slice(0, requestsMax)] as const
      }),
    )
    const longest = Math.max(...values.map(([, texts]) => texts.length))
    if (values.some(([, texts]) => texts.length === 0)) return []
    return Array.from({ length: longest }, (_, index) =>
      Object.fromEntries(values.map(([name, texts]) => [name, texts[index % texts.length] ?? ''])),
    )
  }

  async #valuesOf(name: string, path: string): Promise<readonly string[]> {
    if (name === 'chainId' || name === 'chain') return this.#chains()
    const parent = path.slice(0, path.indexOf(`/{${name}}`))
    const places = sources[name] ?? [
      [parent, name],
      [parent, 'id'],
    ]
    const found = await Promise.all(
      places.map(async ([list, field]) => {
        const rows = await this.rows(list)
        const values = rows.map((row) => read(row, field)).filter((value) => value !== undefined)
        return commonestFirst(values.map(String))
      }),
    )
    // One of each kind first, then the rest.
    const firsts = found.flatMap(([first]) => first ?? [])
    const constant = name === 'block' ? ['latest', 'finalized'] : []
    return [...new Set([...constant.slice(0, 1), ...firsts, ...found.flat()])]
  }

  async #chains(): Promise<readonly string[]> {
    const { chainId } = this.#deployment
    if (chainId !== undefined) return [chainId]
    const { body } = await send(this.#deployment, '/status', {})
    return (body?.chains ?? []).map((chain: Json) => `${chain.chainId}`)
  }

  async #consoleFiles(): Promise<readonly Segments[]> {
    const { text } = await send(this.#deployment, '/', {})
    const files = [...text.matchAll(/console\/([\w.-]+)\/([\w.-]+)/g)]
    return files.slice(0, requestsMax).map(([, version = '', file = '']) => ({ version, file }))
  }

  async #readRows(path: string): Promise<readonly Json[]> {
    const [template = ''] = path.split('?')
    const operation = operationsOf(this.#deployment.document).find(
      (candidate) => candidate.method === 'GET' && candidate.path === template && isList(candidate),
    )
    if (!operation) return []
    const { chainId } = this.#deployment
    const limit = Math.min(rowsMax, parameterOf(operation, 'limit')?.schema.maximum ?? rowsMax)
    const url = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${chainId === undefined ? '' : `&chainId=${chainId}`}`
    const { body } = await send(this.#deployment, url, {})
    return Array.isArray(body?.data) ? body.data : []
  }
}

/**
 * The values, each once; those of as many rows stay in order. The newest row's value may be one
 * that has a single row, such as a token that only paid a fee, which shows nothing of a list.
 */
function commonestFirst(values: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value)
}

/** The value at a dotted path of a row; of members of a list, all of their values. */
export function read(row: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        Array.isArray(at) ? at.map((each) => read(each, name)) : isRecord(at) ? at[name] : undefined,
      row,
    )
}
