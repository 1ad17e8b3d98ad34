/**
 * Checks that belong to no operation: the document itself, unknown paths, limits of the transport, chains,
 * minBlock.
 */
import { isList, operationsOf, parameterOf } from '../apiDocument.ts'
import { ask, send } from '../deployment.ts'
import type { Trial } from '../trial.ts'
import { withQuery } from './answers.ts'

export async function checkService(trial: Trial): Promise<void> {
  const { document } = trial.deployment
  trial.expect(document.openapi?.startsWith('3.1'), 'the document is not OpenAPI 3.1')
  const { version } = JSON.parse((await send(trial.deployment, '/status', {})).text)
  trial.expect(document.info?.version === version, `the contract's version is ${document.info?.version}`)
  await checkLimits(trial)
  await checkChains(trial)
  await checkMinBlock(trial)
  const page = await send(trial.deployment, '/docs/', {})
  trial.expect(page.status === 200 && /openapi\.json/.test(page.text), 'there is no reference at /docs')
}

async function checkLimits(trial: Trial): Promise<void> {
  const json = { 'content-type': 'application/json' }
  const post = operationsOf(trial.deployment.document).find((operation) => operation.requestBody)
  const commands: readonly [string, RequestInit, number][] = post
    ? [
        [post.path, { method: 'POST', headers: json, body: '{' }, 400],
        [post.path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }, 415],
        [post.path, { method: 'POST', headers: json, body: `"${'x'.repeat(500_000)}"` }, 413],
      ]
    : []
  const requests: readonly [string, RequestInit, number][] = [
    ['/nothing/here', {}, 404],
    ['/v1', {}, 404],
    ['/%zz', {}, 400],
    [`/v1/blocks?cursor=${'x'.repeat(9_000)}`, {}, 414],
    ['/v1/blocks', { headers: { 'x-long': 'x'.repeat(17_000) } }, 431],
    ...commands,
  ]
  for (const [url, init, status] of requests) {
    const answer = await send(trial.deployment, url, init)
    const what = `${init.method ?? 'GET'} ${url.slice(0, 60)}`
    trial.expect(answer.status === status, `${what} answers ${answer.status}, not ${status}`)
    const { error, requestId } = answer.body ?? {}
    trial.expect(typeof error?.code === 'string' && typeof error.message === 'string', `${what}: no envelope`)
    trial.expect(!!requestId && requestId === answer.headers.get('svc-request-id'), `${what}: no request id`)
    trial.expect(answer.headers.get('cache-control') === 'no-store', `${what} may be stored`)
  }
}

async function checkChains(trial: Trial): Promise<void> {
  const [list] = operationsOf(trial.deployment.document).filter(isList)
  const [url] = list ? await trial.samples.urls(list) : []
  const { chains = [] } = (await send(trial.deployment, '/status', {})).body ?? {}
  if (!list || url === undefined || !parameterOf(list, 'chainId')) return
  const [path = ''] = url.split('?')
  for (const { chainId } of chains) {
    const answer = await ask(trial, list, `${path}?chainId=${chainId}`)
    trial.expect(answer.status === 200, `chain ${chainId} answers ${answer.status}`)
  }
  const unknown = await ask(trial, list, `${path}?chainId=999999999`)
  trial.expect(unknown.body?.error?.code === 'chain_id_unsupported', 'an unserved chain is not told')
}

async function checkMinBlock(trial: Trial): Promise<void> {
  const [list] = operationsOf(trial.deployment.document).filter(isList)
  const [url] = list ? await trial.samples.urls(list) : []
  if (!list || url === undefined || !parameterOf(list, 'minBlock')) return
  const indexed = (await ask(trial, list, url)).headers.get('svc-indexed-block')
  const there = await ask(trial, list, withQuery(url, `minBlock=${indexed}`))
  trial.expect(there.status === 200, `minBlock of a block that is there answers ${there.status}`)
  const beyond = await ask(trial, list, withQuery(url, `minBlock=${Number(indexed) + 1_000_000}`))
  trial.expect(beyond.status === 409, `minBlock far ahead answers ${beyond.status}`)
}
