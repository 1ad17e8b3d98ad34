/** The request that a node is: as a price is asked with it, and as it is paid for. */
import type { EgressMethod } from '#egress/Egress.ts'
import { isRecord } from '#primitives.ts'
import type { ServiceEndpoint } from '../catalog/service.ts'

export interface SellerCall {
  readonly url: string
  readonly method: EgressMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const accept = { accept: 'application/json, application/problem+json;q=0.9, */*;q=0.5' }

export function sellerCallOf(
  {
    endpoint,
    url,
  }: { readonly endpoint: Pick<ServiceEndpoint, 'method' | 'requestFormat'>; readonly url: URL },
  input: unknown,
): SellerCall {
  const { method, requestFormat } = endpoint
  if (requestFormat === 'query' || method === 'GET')
    return { url: withQuery(url, input).href, method, headers: accept }
  return {
    url: url.href,
    method,
    headers: { ...accept, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  }
}

/** A read of a path alone. */
export const readOf = (url: URL): SellerCall => ({ url: url.href, method: 'GET', headers: accept })

/** Members as parameters: a list repeats its name, what has members is JSON. */
function withQuery(url: URL, input: unknown): URL {
  const result = new URL(url)
  if (!isRecord(input)) return result
  for (const [name, member] of Object.entries(input))
    for (const value of Array.isArray(member) ? member : [member])
      if (value !== null) result.searchParams.append(name, asText(value))
  return result
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
