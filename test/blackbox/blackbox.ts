/** Every operation of a deployment under every check, from nothing but its address. */
import { isList, type Operation, operationsOf, parameterOf } from './apiDocument.ts'
import { checkAnswers } from './checks/answers.ts'
import { checkBadInput } from './checks/badInput.ts'
import { checkFilters } from './checks/filters.ts'
import { checkPaging } from './checks/paging.ts'
import { checkRpc, isRpc } from './checks/rpc.ts'
import { checkService } from './checks/service.ts'
import { checkStream } from './checks/stream.ts'
import { checkTransport } from './checks/transport.ts'
import { ask, openDeployment, send } from './deployment.ts'
import { Samples } from './samples.ts'
import { Trial } from './trial.ts'

interface Check {
  readonly name: string
  readonly applies: (operation: Operation) => boolean
  readonly run: (trial: Trial, operation: Operation) => Promise<void>
}

/** In the order of the table's columns. */
const checks: readonly Check[] = [
  { name: 'answers', applies: (operation) => !isRpc(operation), run: checkAnswers },
  { name: 'json-rpc', applies: isRpc, run: checkRpc },
  { name: 'paging', applies: isList, run: checkPaging },
  { name: 'filters', applies: isList, run: checkFilters },
  { name: 'bad input', applies: ({ method }) => method === 'GET', run: checkBadInput },
  { name: 'transport', applies: ({ method }) => method === 'GET', run: checkTransport },
  { name: 'stream', applies: (operation) => parameterOf(operation, 'live') !== undefined, run: checkStream },
]

export interface Result {
  readonly operation: string
  readonly check: string
  readonly expectations: number
  readonly failures: readonly string[]
  readonly notes: readonly string[]
}

export interface BlackboxOptions {
  readonly chainId?: string | undefined
  readonly apiKey?: string | undefined
  /** Only operations whose path begins with this. */
  readonly only?: string | undefined
  /** Told after each check. */
  readonly onResult?: (result: Result) => void
}

/** @throws Error when there is no API at the address */
export async function runBlackbox(origin: string, options: BlackboxOptions = {}): Promise<readonly Result[]> {
  const deployment = await openDeployment(origin, options)
  const samples = new Samples(deployment)
  const results: Result[] = []
  const attempt = async (operation: string, check: string, run: (trial: Trial) => Promise<void>) => {
    const trial = new Trial(operation, deployment, samples)
    try {
      await run(trial)
    } catch (error) {
      trial.expect(false, `the check ended with ${error instanceof Error ? error.message : error}`)
    }
    const { expectations, failures, notes } = trial
    const result = { operation, check, expectations, failures, notes }
    results.push(result)
    options.onResult?.(result)
  }
  const { only = '' } = options
  if (only === '') await attempt('the service', 'service', checkService)
  for (const operation of operationsOf(deployment.document).filter(({ path }) => path.startsWith(only))) {
    if (options.apiKey !== undefined && isForPeople(operation)) {
      await attempt(operation.title, 'people only', (trial) => checkPeopleOnly(trial, operation))
      continue
    }
    if (asksForProof(operation)) {
      await attempt(operation.title, 'payment', (trial) => checkChallenge(trial, operation))
      continue
    }
    for (const { name, run } of checks.filter(({ applies }) => applies(operation)))
      await attempt(operation.title, name, (trial) => run(trial, operation))
  }
  return results
}

/** Those who ask have to prove an account of a payer: the protocol's own answer, and no envelope. */
const asksForProof = ({ method, path }: Operation): boolean =>
  (path === '/v1/jobs' && method !== 'POST') || path === '/v1/jobs/{jobId}/cancel'

const NO_JOB = '0d9c2f6e-0000-4000-8000-000000000000'

async function checkChallenge(trial: Trial, { title, method, path }: Operation): Promise<void> {
  const { status, headers } = await send(trial.deployment, path.replace('{jobId}', NO_JOB), { method })
  trial.expect(status === 402, `${title} answers ${status}`)
  trial.expect(/^Payment /.test(headers.get('www-authenticate') ?? ''), `${title} says not how to pay`)
  trial.expect(headers.get('cache-control') === 'no-store', `${title} may be kept`)
}

/** A key cannot sign in: the document says that only a session opens the operation. */
const isForPeople = ({ security }: Operation): boolean =>
  security.length > 0 && security.every((scheme) => 'session' in scheme || 'bearer' in scheme)

async function checkPeopleOnly(trial: Trial, operation: Operation): Promise<void> {
  const { status } = await ask(trial, operation, operation.path.replaceAll(/\{\w+\}/g, 'x'))
  trial.expect(status === 403, `${operation.title} answers a key with ${status}`)
}
