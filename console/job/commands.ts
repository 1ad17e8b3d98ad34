/**
 * Commands that pay or prove an account, for what a page without a wallet cannot do: the requests of
 * docs/clients.md ("The same by curl"), with everything filled in.
 */
import type { JobRun } from './job.ts'

interface Asked {
  /** Address of the operation, absolute. */
  readonly url: string
  /** JSON text. */
  readonly body: string
  /** Headers beside that of the content type. */
  readonly headers?: readonly string[]
  /** A filter of the shell for the answer. */
  readonly filter?: string
}

/** Buys a plan for at most its price. @param plan JSON as it was quoted */
export const buyCommand = (origin: string, plan: string, maxSpend: string, idempotencyKey: string): string =>
  paying({
    url: new URL('v1/jobs', origin).href,
    body: orderBody(plan, maxSpend, idempotencyKey),
    filter: linkFilter(origin),
  })

/** The body of POST /v1/jobs; the plan stands in it as it was written. */
export const orderBody = (plan: string, maxSpend: string, idempotencyKey: string): string =>
  `{"idempotencyKey": ${JSON.stringify(idempotencyKey)}, "max_spend": ${JSON.stringify(maxSpend)}, "plan": ${plan.trim()}}`

/** Buys what failed of a job again, for at most what the whole job was charged. */
export const retryCommand = (
  origin: string,
  jobId: string,
  maxSpend: string,
  idempotencyKey: string,
): string =>
  paying({
    url: urlOf(origin, jobId, 'retry'),
    body: JSON.stringify({ idempotencyKey, max_spend: maxSpend }),
    filter: linkFilter(origin),
  })

export const cancelCommand = (origin: string, jobId: string): string =>
  paying({ url: urlOf(origin, jobId, 'cancel'), body: '{}' })

export interface ReviewDraft {
  /** 1 to 5, also for each node that was called. */
  readonly rating: number
  readonly comment: string
}

export const reviewCommand = (
  origin: string,
  jobId: string,
  { rating, comment }: ReviewDraft,
  runs: readonly JobRun[],
): string =>
  paying({
    url: urlOf(origin, jobId, 'feedback'),
    body: JSON.stringify({
      rating,
      ...(comment.trim() !== '' && { comment: comment.trim() }),
      tools: calledOf(runs).map(({ nodeId }) => ({ nodeId, rating })),
    }),
    // Without it a review is taken as one that nobody proved.
    headers: ['accept-payment: tempo/charge'],
  })

/** Nodes that were called for this job: a review rates each. */
export const calledOf = (runs: readonly JobRun[]): readonly JobRun[] =>
  runs.filter(({ carried, attempts }) => !carried && attempts.length > 0)

const urlOf = (origin: string, jobId: string, what: string): string =>
  new URL(`v1/jobs/${encodeURIComponent(jobId)}/${what}`, origin).href

/** Asks for the challenge, signs it, and asks again with what was signed. */
function paying({ url, body, headers = [], filter }: Asked): string {
  const given = ['content-type: application/json', ...headers].map((header) => `-H ${quoted(header)}`)
  const request = (more: readonly string[]) =>
    ['curl -s', ...more, ...given, '--data-binary @body.json', quoted(url)].join(' ')
  const paid = request(['-H "authorization: $(cat authorization.txt)"'])
  return [
    'export MPPX_PRIVATE_KEY=$(cat payer.key) MPPX_RPC_URL=$RPC_URL',
    // No line of JSON is this word.
    "cat > body.json <<'JSON'",
    body,
    'JSON',
    request(['-D head.txt -o problem.json']),
    `npx mppx sign --challenge "$(sed -n 's/^[Ww][Ww][Ww]-[Aa]uthenticate: //p' head.txt | head -n 1 | tr -d '\\r')" > authorization.txt \\`,
    `  && ${filter === undefined ? paid : `${paid} | ${filter}`} || cat problem.json`,
  ].join('\n')
}

/** The link of the job's page in the place of its id; a refusal stays as it is. */
function linkFilter(origin: string): string {
  const link = `${new URL('#view=job&job=', origin).href}`.replace(/[&|\\]/g, '\\$&')
  return `sed -E ${quoted(`s|.*"jobId": ?"([0-9a-f-]{36})".*|${link}\\1|`)}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
