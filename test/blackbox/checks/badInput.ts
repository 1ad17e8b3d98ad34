/**
 * Values that a parameter does not take are refused and named: wrong forms, values out of bounds, repeats,
 * unknown names.
 */
import type { Operation } from '../apiDocument.ts'
import { ask } from '../deployment.ts'
import { accepts, textsFor, validText } from '../parameterTexts.ts'
import type { Trial } from '../trial.ts'
import { withQuery } from './answers.ts'

/** Texts per parameter; the whole set is tried by the project's own tests. */
const textsMax = 6

export async function checkBadInput(trial: Trial, operation: Operation): Promise<void> {
  const [url] = await trial.samples.urls(operation)
  if (url === undefined || operation.method !== 'GET') return
  await expectRefused(trial, operation, withQuery(url, 'nonsense=1'), 'nonsense')
  for (const { name, in: place, schema, required, explode } of operation.parameters) {
    const bad = textsFor(schema).filter((text) => !accepts(schema, text, explode))
    if (place === 'path') {
      await checkSegment(trial, operation, url, name, bad)
      continue
    }
    const [path = '', search = ''] = url.split('?')
    const others = new URLSearchParams(search)
    others.delete(name)
    const base = withQuery(path, `${others}`)
    const pair = (text: string) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`
    // Those at the schema's own bounds come last.
    for (const text of [...bad.slice(0, textsMax / 2), ...bad.slice(-textsMax / 2)])
      await expectRefused(trial, operation, withQuery(base, pair(text)), name)
    if (schema.type !== 'array') {
      const twice = `${pair(validText(schema))}&${pair(validText(schema))}`
      await expectRefused(trial, operation, withQuery(base, twice), name)
    }
    if (required) await expectRefused(trial, operation, base, name)
  }
}

async function checkSegment(
  trial: Trial,
  operation: Operation,
  url: string,
  name: string,
  bad: readonly string[],
): Promise<void> {
  const at = operation.path.split('/').indexOf(`{${name}}`)
  const [path = '', search = ''] = url.split('?')
  // An empty segment is another path.
  for (const text of bad.filter((candidate) => candidate !== '').slice(0, textsMax)) {
    const segments = path.split('/').with(at, encodeURIComponent(text))
    await expectRefused(trial, operation, withQuery(segments.join('/'), search), name, 'param')
  }
}

async function expectRefused(
  trial: Trial,
  operation: Operation,
  url: string,
  name: string,
  place: 'query' | 'param' = 'query',
): Promise<void> {
  const { status, body } = await ask(trial, operation, url)
  trial.expect(status === 400 || status === 422, `${url} answers ${status}`)
  const details: readonly { path?: readonly unknown[] }[] = body?.error?.details ?? []
  trial.expect(
    details.some(({ path }) => path?.at(0) === place && path.at(-1) === name),
    `${url} does not name ${name}`,
  )
}
