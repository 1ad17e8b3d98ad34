/** One call of a tool: its answer, or why there is none, as results of the protocol. */
import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import { apiErrorOf } from '#http/answer/thrown.ts'
import type { ErrorCode, RequestProblem } from '#http/errors.ts'
import { bodyInvalid } from '#http/request/json.ts'
import { planInvalid } from '../plan/checkPlan.ts'
import { nextActionOf } from './nextActions.ts'
import { ownNames, type Tool, ToolAnswer, type ToolCall } from './tool.ts'

export interface MessageCall extends ToolCall {
  /** Numbers of the request that would come out as others. */
  readonly changed: readonly RequestProblem[]
}

interface Called {
  readonly result: CallToolResult
  /** The job that goes on after it; null where all is said. */
  readonly jobId: string | null
}

/**
 * Errors of the tool are results that say what to do next.
 * @param defects what is wrong with the program itself is added to them
 * @throws ProtocolError
 */
export async function callTool(
  tool: Tool,
  given: unknown,
  call: MessageCall,
  defects: unknown[],
  nextAction: (code: ErrorCode) => string = nextActionOf,
): Promise<Called> {
  try {
    assertExact(call.changed)
    const told = await tool.run(ownNames(given), call)
    const { content, meta, jobId } = told instanceof ToolAnswer ? told : new ToolAnswer(told, {})
    const result: CallToolResult = {
      content: [{ type: 'text', text: call.verbatim.fill(JSON.stringify(content)) }],
      structuredContent: { ...content },
      ...(told instanceof ToolAnswer && { _meta: { ...meta } }),
    }
    return { result, jobId }
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    const { code, message, details } = apiErrorOf(thrown)
    if (code === 'internal_error') defects.push(thrown)
    const told = {
      error: { code, message, ...(details.length > 0 && { details: details.map(inArguments) }) },
      next_action: nextAction(code),
    }
    return { result: { content: [{ type: 'text', text: JSON.stringify(told) }], isError: true }, jobId: null }
  }
}

/** @throws ApiError plan_invalid where one is in a plan, else body_invalid */
function assertExact(changed: readonly RequestProblem[]): void {
  if (changed.length === 0) return
  throw changed.some(({ path }) => path[1] === 'plan') ? planInvalid(changed) : bodyInvalid(changed)
}

/** A plan is the body of a request by REST; here it is an argument. */
function inArguments({ path: [first, ...rest], ...problem }: RequestProblem): RequestProblem {
  if (first !== 'body') return { path: [...(first === undefined ? [] : [first]), ...rest], ...problem }
  return { path: ['arguments', ...(rest.length > 0 ? ['plan', ...rest] : [])], ...problem }
}
