/**
 * An endpoint whose answer is more than one JSON value under one status: text, images, downloads,
 * live streams, requests for a payment.
 */

import type { RawAnswer, ValueAnswer } from './answer/answer.ts'
import {
  type ApiCall,
  BODY_BYTES_MAX_DEFAULT,
  type ChainPlace,
  callOf,
  type Definition,
  describe,
  type Endpoint,
  type EndpointRequest,
  type Method,
  type None,
  type PricedRequest,
} from './endpoint.ts'
import type { Caller } from './request/access.ts'
import type * as p from './request/parameter.ts'
import type * as s from './schema.ts'

/** The typed view of a `PricedRequest`. */
type PricedCall<
  Path extends p.Parameters,
  Filters extends p.Parameters,
  Include extends string,
  Chain extends ChainPlace,
  Read,
> = Pick<ApiCall<Path, Filters, Include, Chain>, 'chainId' | 'filters' | 'caller' | 'headers' | 'signal'> & {
  readonly body: Read
}

type ContentTypes = Readonly<Record<string, s.TSchema | null>>

/** A value as the schema of `application/json` has it. */
type ValueOf<Types> = Types extends { readonly 'application/json': infer Schema extends s.TSchema }
  ? s.Static<Schema>
  : never

/** Sends what `answer` returns. `produces` lists the content types for the reference. */
export function rawEndpoint<
  Services,
  Body extends s.TSchema = s.TSchema,
  Path extends p.Parameters = None,
  Filters extends p.Parameters = None,
  Include extends string = never,
  Chain extends ChainPlace = 'none',
  Read = s.Static<Body>,
  Types extends ContentTypes = ContentTypes,
>(
  definition: Definition<Path, Filters, Include, Chain> & {
    /** Default GET. */
    readonly method?: Method
    readonly body?: Body
    readonly bodyBytesMax?: number
    /** Reads the body's text instead of JSON.parse and the schema. @throws ApiError */
    readonly readBody?: (text: string) => Read
    /** The units that a request counts as in quotas. Default: one. */
    readonly units?: (
      asked: Pick<ApiCall<Path, Filters, Include, Chain>, 'chainId' | 'filters'> & {
        readonly body: Read
      },
      services: Services,
    ) => number
    /** Dollars, as decimal text, that a request costs at least. Default: what its units do. */
    readonly price?: (
      asked: PricedCall<Path, Filters, Include, Chain, Read>,
      services: Services,
    ) => Promise<string>
    /** As `Endpoint.assertAnswerable`. */
    readonly assertAnswerable?: (
      asked: PricedCall<Path, Filters, Include, Chain, Read>,
      services: Services,
    ) => Promise<void>
    /** Refuses what this caller may not ask for with this body. @throws ApiError */
    readonly permit?: (caller: Caller, body: Read) => void
    readonly produces: Types
    /** Statuses under which it sends what it produces. Default: 200. */
    readonly statuses?: readonly number[]
    readonly errorFields?: Readonly<Record<string, unknown>>
    readonly answer: (
      call: ApiCall<Path, Filters, Include, Chain> & { readonly body: Read },
      services: Services,
    ) => Promise<RawAnswer | ValueAnswer<ValueOf<Types>>> | RawAnswer
  },
): Endpoint<Services> {
  const { method = 'GET', body, bodyBytesMax = BODY_BYTES_MAX_DEFAULT, produces, answer } = definition
  const { units, price, assertAnswerable, permit, readBody } = definition
  // The typed view that `callOf` gives of a whole request.
  const asked = ({ chainId, query, body: value }: Pick<EndpointRequest, 'chainId' | 'query' | 'body'>) => ({
    chainId: chainId as ApiCall<Path, Filters, Include, Chain>['chainId'],
    filters: query as p.Values<Filters>,
    body: value as Read,
  })
  const priced = ({ caller, headers, signal, ...request }: PricedRequest) => ({
    ...asked(request),
    ...{ caller, headers, signal },
  })
  return {
    ...describe(method, { ...definition, chain: definition.chain ?? 'none' }),
    ...(units && {
      units: (request: Pick<EndpointRequest, 'chainId' | 'query' | 'body'>, services: Services) =>
        units(asked(request), services),
    }),
    ...(price && {
      price: (request: PricedRequest, services: Services) => price(priced(request), services),
    }),
    ...(assertAnswerable && {
      assertAnswerable: (request: PricedRequest, services: Services) =>
        assertAnswerable(priced(request), services),
    }),
    ...(permit && { permit: (caller: Caller, value: unknown) => permit(caller, value as Read) }),
    body: body ? { schema: body, bytesMax: bodyBytesMax, ...(readBody && { read: readBody }) } : null,
    produces: { kind: 'raw', statuses: definition.statuses ?? [200], types: produces },
    errorFields: definition.errorFields ?? {},
    run: async (request, services) => {
      const call = callOf<Path, Filters, Include, Chain>(request)
      const told = await answer({ ...call, body: request.body as Read }, services)
      return told.kind === 'json' ? { cache: 'none', headers: {}, ...told } : told
    },
  }
}
