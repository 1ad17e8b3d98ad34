/** A tool of agents, and the check of its input before it runs. */
import { Compile } from 'typebox/compile'
import { withoutNulls } from '#http/request/absent.ts'
import type { AccessRequest } from '#http/request/access.ts'
import { bodyInvalid } from '#http/request/json.ts'
import { problemsOf } from '#http/request/problems.ts'
import type * as s from '#http/schema.ts'
import { isRecord } from '#primitives.ts'
import type { CallContext, OrchestratorServices } from '../operations.ts'
import type { Reviews } from '../review/Reviews.ts'
import type { AskOwn } from './chainTools.ts'
import type { Verbatim } from './Verbatim.ts'

/** Services that the tools work with. */
export interface ToolServices extends OrchestratorServices {
  readonly reviews: Reviews
  /** How long results of jobs are kept after their end. */
  readonly resultsKeptMs: number
  /** The origin by which people reach the service; null if no setting names one. */
  readonly publicOrigin: string | null
  /** Asks this server, for its chain data. */
  readonly askOwn: AskOwn
}

export interface ToolCall extends CallContext {
  readonly services: ToolServices
  /** The message that the call came in, as access sees it. */
  readonly asking: AccessRequest
  /** The message's data beside the arguments, such as a payment. */
  readonly meta: Readonly<Record<string, unknown>>
  /** Makes values of an answer out of JSON texts. */
  readonly verbatim: Verbatim
}

/** The origin of this service: without a public address, the one by which the request has reached it. */
export const originOf = ({ services: { publicOrigin }, asking }: ToolCall): string =>
  publicOrigin ?? `http://${asking.headers.host}`

/** An answer with something beside what it says, such as a receipt. */
export class ToolAnswer {
  readonly content: object
  readonly meta: Readonly<Record<string, unknown>>
  /** The job that goes on after it; null where all is said. */
  readonly jobId: string | null

  constructor(content: object, meta: Readonly<Record<string, unknown>>, jobId: string | null = null) {
    this.content = content
    this.meta = meta
    this.jobId = jobId
  }
}

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: s.TSchema
  readonly output: s.TSchema
  /** It asks strangers, or tells of them. */
  readonly isOpenWorld: boolean
  /**
   * The effect of a call: nothing, something more with each call, something once however often it is
   * called, or money, once too. Default: nothing.
   */
  readonly changes?: 'adds' | 'keeps' | 'pays'
  /** @throws ApiError, ProtocolError */
  readonly run: (input: unknown, call: ToolCall) => Promise<object | ToolAnswer>
}

/** A tool whose input is checked before it runs. */
export function tool<Input extends s.TSchema>(
  definition: Omit<Tool, 'input' | 'run'> & {
    readonly input: Input
    readonly run: (input: s.Static<Input>, call: ToolCall) => Promise<object>
  },
): Tool {
  const check = Compile(definition.input)
  return {
    ...definition,
    run: (given, call) => {
      const input = withoutNulls(definition.input, given)
      if (check.Check(input)) return definition.run(input, call)
      throw bodyInvalid(problemsOf(check.Errors(input), input, ['arguments']))
    },
  }
}

/** Names of arguments, by the names that answers have for the same. */
const nameOfArgument: Readonly<Record<string, string>> = {
  ...{ serviceId: 'service_id', serviceIds: 'service_ids', serviceMode: 'service_mode' },
  ...{ jobId: 'job_id', nodeIds: 'node_ids', idempotencyKey: 'idempotency_key' },
}

/** Arguments by their own names, where some came by those that answers have for them. */
export function ownNames(given: unknown): unknown {
  if (!isRecord(given)) return given
  const named = Object.entries(given).map(([name, value]): [string, unknown] => {
    const own = Object.hasOwn(nameOfArgument, name) ? nameOfArgument[name] : undefined
    // Two values for one argument are told as an unknown member; null is none.
    const isTwice = own !== undefined && value !== null && (given[own] ?? null) !== null
    return [own === undefined || isTwice ? name : own, value]
  })
  const isNull = ([, value]: [string, unknown]) => value === null
  return Object.fromEntries([...named.filter(isNull), ...named.filter((entry) => !isNull(entry))])
}
