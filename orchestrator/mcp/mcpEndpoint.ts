/** POST /mcp: the orchestrator for agents. */
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as s from '#http/schema.ts'
import { agentRequests, unitsOf } from '../allowance.ts'
import { PLAN_BYTES_MAX } from '../plan/plan.ts'
import { EVENTS_TYPE, framed, framingOf, JSON_TYPE, notAcceptable } from './framing.ts'
import { type McpBody, readMessages } from './readMessages.ts'
import { type HeaderValues, type McpCall, serve } from './serve.ts'
import type { Tool, ToolServices } from './tool.ts'
import { Verbatim } from './Verbatim.ts'

/** Services that the door works with. */
export interface McpServices extends ToolServices {
  /** The program's own, which clients are told. */
  readonly version: string
  /** Listed after those of the orchestrator. */
  readonly chainTools: readonly Tool[]
}

/** A plan, and what is around it. */
const BODY_BYTES_MAX = PLAN_BYTES_MAX + 64 * 1_024

export const mcpEndpoint = rawEndpoint({
  method: 'POST',
  path: '/mcp',
  summary: 'Tools for agents, by the Model Context Protocol.',
  description:
    'Streamable HTTP in the revisions 2026-07-28 and 2025-11-25, and those before: no session, JSON answers (events for clients that take nothing else). Tools: search_services, describe_service, quote_plan, create_job, get_job, create_job_review, get_job_review, send_product_feedback; of chain data query_chain, list_transfers, list_balances. For clients that declare `io.modelcontextprotocol/tasks` jobs are tasks (tasks/get, tasks/update, tasks/cancel).',
  tag: 'Services',
  access: { ...agentRequests, takesPayments: true },
  body: s.foreign('A JSON-RPC message of the protocol.'),
  bodyBytesMax: BODY_BYTES_MAX,
  readBody: readMessages,
  units: ({ body: { characters, messages } }) => unitsOf(characters, messages),
  produces: { [JSON_TYPE]: null, [EVENTS_TYPE]: null },
  statuses: [200, 202, 400, 404, 406],
  errors: ['forbidden', 'rate_limit_exceeded'],
  answer: async ({ body, headers, asking, caller, signal }, services: McpServices) => {
    assertOwnOrigin(headers.origin, headers.host, services.publicOrigin)
    const framing = framingOf(headers.accept)
    if (framing === null) return notAcceptable
    const { version, chainTools } = services
    const { changed } = body
    const verbatim = new Verbatim()
    const call = { services, asking, caller: caller.id, signal, version, chainTools, changed, verbatim }
    const { status, text } = await answerAll(body, headers, call)
    return framed(text, status, framing, verbatim)
  },
})

/** A page of another site must not use a person's rights. @throws ApiError forbidden */
function assertOwnOrigin(origin: string | undefined, host: string | undefined, own: string | null): void {
  if (origin === undefined || origin === own) return
  if (own === null && (origin === `http://${host}` || origin === `https://${host}`)) return
  throw new ApiError('forbidden', 'Requests of pages of other origins are not taken.')
}

/** The answers of all messages, in one text, with marks of `call.verbatim` still in it. */
async function answerAll(
  body: McpBody,
  headers: HeaderValues,
  call: McpCall,
): Promise<{ readonly status: number; readonly text: string }> {
  const { refused, message, isLeft } = body
  if (!isLeft) return { status: 200, text: JSON.stringify(Array.isArray(message) ? refused : refused[0]) }
  const response = await serve(body, headers, call)
  const told = await response.text()
  if (refused.length === 0 || !response.ok) return { status: response.status, text: told }
  const answered: unknown = told === '' ? [] : JSON.parse(told)
  const answers = Array.isArray(answered) ? answered : [answered]
  return { status: 200, text: JSON.stringify([...answers, ...refused]) }
}
