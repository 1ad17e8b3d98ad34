/** An agent's next actions after a failure. */
import { type ErrorCode, errorCatalogue } from '#http/errors.ts'

const nextActions: Partial<Record<ErrorCode, string>> = {
  api_key_malformed: 'Tell the user that the API key which this server was given has not the form of one.',
  chain_id_unsupported: 'Leave out chainId, or name a chain that is served here.',
  payment_required:
    'Do what the message allows: wait a minute, have the user give an API key to this server, or do without.',
  payment_used:
    'Call create_job again with the same idempotency key and without this payment: a job that is there is not paid again.',
  request_invalid: 'Send one payment, as a challenge of this server asks for it.',
  settlement_pending:
    'Wait some seconds, then repeat the call with the same payment and idempotency key. Never pay again.',
  spend_limit_exceeded:
    'Tell the user the price. Raise the limit only where the user agrees, or quote another plan.',
  query_invalid: 'Correct the arguments that details name, then call this tool again.',
  sql_invalid: 'Correct the SQL at the line and column that details name, then call this tool again.',
  body_invalid: 'Correct the arguments that details name, then call this tool again.',
  idempotency_conflict:
    'What was given first stays: read it again, and take another idempotency key for another plan alone.',
  job_not_found: 'Give the job id that create_job answered with.',
  parameter_conflict: 'Choose among what details list, and call this tool again with it.',
  plan_invalid: 'Correct the nodes that details name, then call quote_plan with the whole plan again.',
  quote_unavailable:
    'Replace the nodes that details name: call search_services again, rebuild the plan, then quote_plan.',
  wallet_unavailable:
    'Tell the user that this plan is not sold now, and why. Try later, or replace the nodes that details name.',
  rate_limit_exceeded: 'Wait a minute, then call this tool again with the same arguments.',
  service_not_found: 'Call search_services to find a service that is listed.',
}

export const nextActionOf = (code: ErrorCode): string =>
  nextActions[code] ??
  (ofArguments.has(errorCatalogue[code].status)
    ? 'Correct the arguments that the message names, then call this tool again.'
    : 'Call this tool once more; if it fails again, tell the user.')

/** Statuses of requests that are wrong themselves: repeated they fail again. */
const ofArguments: ReadonlySet<number> = new Set([400, 422])
