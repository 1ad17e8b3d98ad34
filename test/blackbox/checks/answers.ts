/**
 * Every operation answers with real values, plainly and with all that can be included, in the form
 * the document gives.
 */
import { includesOf, type Json, type Operation, parameterOf } from '../apiDocument.ts'
import { type Answer, ask } from '../deployment.ts'
import { validText } from '../parameterTexts.ts'
import type { Trial } from '../trial.ts'

export async function checkAnswers(trial: Trial, operation: Operation): Promise<void> {
  if (operation.method === 'POST') return checkCommand(trial, operation)
  if (operation.method !== 'GET') return trial.note('changes what there is')
  const urls = await trial.samples.urls(operation)
  if (urls.length === 0) return trial.note('no value of a path parameter was found')
  const answers: Answer[] = []
  for (const url of urls) answers.push(await ask(trial, operation, url))
  const good = answers.filter(({ status }) => status === 200)
  for (const { url, status } of answers)
    trial.expect(status === 200 || status === 404, `${url} answers ${status}`)
  if (good.length === 0) return trial.note('nothing was found by any value')
  checkFreshness(trial, operation, good)
  await checkExample(trial, operation)
  await checkIncludes(
    trial,
    operation,
    good.map(({ url }) => url),
  )
}

/** The values the reference fills in find something. */
async function checkExample(trial: Trial, operation: Operation): Promise<void> {
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
  if (inPath.length === 0 || inPath.some(({ schema }) => !schema.examples?.length)) return
  const path = inPath.reduce(
    (text, { name, schema }) => text.replace(`{${name}}`, encodeURIComponent(validText(schema))),
    operation.path,
  )
  const { url, status, body } = await ask(trial, operation, path)
  if (body?.error?.code === 'token_logo_not_found') return trial.note('the token of the example has no logo')
  if (body?.error?.code === 'order_not_found') return trial.note('the order of the example is closed')
  trial.expect(status === 200, `${url}, the example of the reference, answers ${status}`)
}

function checkFreshness(trial: Trial, operation: Operation, answers: readonly Answer[]): void {
  if (!operation.responses[200]?.headers?.['svc-indexed-block']) return
  for (const { url, headers } of answers)
    for (const name of ['svc-indexed-block', 'svc-finalized-block', 'svc-lag-blocks'])
      trial.expect(/^\d+$/.test(headers.get(name) ?? ''), `${url} has no ${name}`)
  for (const { url, headers } of answers)
    trial.expect(/^(proved|agreed)$/.test(headers.get('svc-finality') ?? ''), `${url} has no svc-finality`)
}

/** Rows that are looked through for what a value of `include` adds. */
const ROWS_MAX = 100

/** Each value of `include` adds something to one of the answers at least. */
async function checkIncludes(trial: Trial, operation: Operation, urls: readonly string[]): Promise<void> {
  const values = includesOf(operation)
  const most = parameterOf(operation, 'limit')?.schema.maximum
  const limit = most === undefined ? '' : `limit=${Math.min(ROWS_MAX, most)}`
  for (const value of values.length > 1 ? [...values, values.join(',')] : values) {
    let adds = false
    for (const url of urls.map((one) => withQuery(one, limit))) {
      const plain = membersOf((await ask(trial, operation, url)).body)
      const answer = await ask(trial, operation, withQuery(url, `include=${encodeURIComponent(value)}`))
      trial.expect(answer.status === 200, `${answer.url} answers ${answer.status}`)
      adds ||= membersOf(answer.body).difference(plain).size > 0
    }
    if (!adds) trial.note(`include=${value} added nothing`)
  }
}

/** A command is sent what its document needs and has examples for. */
async function checkCommand(trial: Trial, operation: Operation): Promise<void> {
  const [get] = await trial.samples.urls({ ...operation, parameters: [], method: 'GET' })
  const example = operation.requestBody?.content['application/json'].schema.properties?.sql?.examples?.[0]
  if (get === undefined || example === undefined) return trial.note('its body has no example')
  const { chainId } = trial.deployment
  const body: Json = { sql: example, ...(chainId !== undefined && { chainId }) }
  const headers = { 'content-type': 'application/json' }
  const answer = await ask(trial, operation, get, { headers, body: JSON.stringify(body) })
  trial.expect(answer.status === 200, `${answer.url} answers ${answer.status}`)
}

export const withQuery = (url: string, query: string): string =>
  query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`

/** The dotted names of all members of a value; items of lists share theirs. */
function membersOf(value: unknown, prefix = ''): Set<string> {
  if (Array.isArray(value))
    return new Set(value.flatMap((item: unknown) => [...membersOf(item, `${prefix}[]`)]))
  if (typeof value !== 'object' || value === null) return new Set()
  return new Set(
    Object.entries(value).flatMap(([name, member]) => [
      `${prefix}.${name}`,
      ...membersOf(member, `${prefix}.${name}`),
    ]),
  )
}
